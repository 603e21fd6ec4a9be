// Package report makes of a run what people and programs read: the closing block,
// verdict.json, Markdown, and the text of a failure. It reads report entries, never text.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// A Result is how one step or mistake came out.
type Result struct {
	Number  int           `json:"number"` // of a mistake, the step that it is made in
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	State   string        `json:"result"`         // passed, failed, not run, done (first, for another step), refuted or skipped
	Code    snapshot.Code `json:"code,omitempty"` // the kind of the first mismatch
	Why     string        `json:"why,omitempty"`  // for all but passed and done, in one sentence
	Seconds float64       `json:"seconds"`

	reported bool // it does not decide the verdict
}

// The states of a Result.
const (
	passed = "passed"
	Failed = "failed"
	notRun = "not run"
	done   = "done"
	// partial is a verdict only.
	partial = "partial"

	// The same for who makes a page of what is no run.
	Passed, NotRun = passed, notRun
)

// Why a step was not run where nothing failed it.
const (
	notAskedFor = "not asked for"
	endedBefore = "the run ended before it"
)

// A Summary is the end of a run, for a person: every step, the versions, the
// verdict with its reason, and where the rest lies.
type Summary struct {
	Run       string // its id
	Steps     []Result
	Mistakes  []Result
	Probes    []Result // the specs that only claims need
	Claims    []ClaimResult
	Findings  []preflight.Finding // the preflight's
	Wanted    preflight.Versions
	Versions  preflight.Versions
	Verdict   string // passed, partial, failed or not run
	Reason    string
	First     *FirstFailure
	Started   time.Time
	Seconds   float64    // of the whole run
	Locations [][]string // what lies where
}

// Summarize sums up what Ginkgo reports of a run. site may be nil if the run ended
// before the cluster was looked at.
func Summarize(report types.Report, items Items, site *preflight.Facts, pins fixtures.Pins) Summary {
	closing := Summary{Wanted: wanted(pins), Started: report.StartTime, Seconds: text.Seconds(report.RunTime), First: firstFailure(report.SpecReports, site, pins)}
	for _, item := range items.Steps {
		closing.Steps = append(closing.Steps, item.result(report.SpecReports))
	}
	for _, item := range items.Mistakes {
		result := Result{Number: item.Number, Name: item.Name, Title: item.Title}
		result.summarize(withLabel(report.SpecReports, item.Label))
		result.reported = item.Reported
		closing.Mistakes = append(closing.Mistakes, result)
	}
	for _, item := range items.Probes {
		closing.Probes = append(closing.Probes, item.result(report.SpecReports))
	}
	if site != nil {
		closing.Versions = site.Versions()
	}
	closing.Verdict, closing.Reason = closing.judge(report, items, site, pins)
	return closing
}

func withLabel(reports types.SpecReports, label string) types.SpecReports {
	var found types.SpecReports
	for _, report := range reports {
		if slices.Contains(report.Labels(), label) {
			found = append(found, report)
		}
	}
	return found
}

// summarize sums up the specs of one step. A spec that was skipped leaves the step
// not run; a failed one outweighs it.
func (r *Result) summarize(reports types.SpecReports) {
	r.State = passed
	if len(reports) == 0 {
		r.State, r.Why = notRun, endedBefore
	}
	for _, report := range reports {
		r.Seconds += runTime(report).Seconds()
		switch {
		case report.State.Is(types.SpecStateAborted | types.SpecStateInterrupted):
			r.State, r.Why = notRun, "interrupted"
		case report.State.Is(types.SpecStateFailureStates):
			r.State, r.Why = Failed, text.FirstLine(report.Failure.Message)
			if failure := failureOf(report); failure != nil {
				r.Code, r.Why = failure.Code, failure.sentence()
			}
		case report.State.Is(types.SpecStateSkipped) && failureOf(report) != nil:
			r.summarizeReported(*failureOf(report))
		case !report.State.Is(types.SpecStatePassed) && r.State == passed:
			r.State, r.Why = notRun, text.Or(report.Failure.Message, endedBefore)
		}
	}
	r.Seconds = text.Seconds(time.Duration(r.Seconds * float64(time.Second)))
}

// summarizeReported sums up a spec that reports what does not hold and fails nothing.
func (r *Result) summarizeReported(failure Failure) {
	r.State, r.Code, r.Why = refuted, failure.Code, text.FirstLine(failure.EN)
	for _, row := range failure.Rows {
		r.Why += fmt.Sprintf(" [%s: wanted %s, found %s]", row.What, row.Wanted, row.Found)
	}
	switch {
	case failure.Stage == NotHere:
		r.State = skipped
	case failure.Code == ProbeUnanswered, failure.Code == LabUnreadable:
		r.State = notRun
	}
}

// judge gives the verdict. It is passed only if every step was run and passed,
// on the versions that the lab pins.
func (c Summary) judge(report types.Report, items Items, site *preflight.Facts, pins fixtures.Pins) (verdict, reason string) {
	for _, spec := range report.SpecReports {
		if spec.State.Is(types.SpecStateAborted | types.SpecStateInterrupted) {
			if strings.HasPrefix(spec.Failure.Message, ownership.ErrLost.Error()) {
				return Failed, text.FirstLine(spec.Failure.Message)
			}
			return Failed, "the run was interrupted"
		}
	}
	for _, setup := range report.SpecReports {
		if setup.LeafNodeType.Is(types.NodeTypeBeforeSuite) && setup.State.Is(types.SpecStateFailureStates) {
			if site != nil && (site.Unreachable != nil || site.Occupied != nil) {
				return notRun, text.FirstLine(setup.Failure.Message)
			}
			return Failed, text.FirstLine(setup.Failure.Message)
		}
	}
	wrong, missing := c.short()
	switch {
	case len(c.Steps) == 0:
		return Failed, "this suite has no step"
	case len(wrong) == 1:
		return Failed, wrong[0]
	case len(wrong) > 1:
		return Failed, fmt.Sprintf("%s (and %d more)", wrong[0], len(wrong)-1)
	case !report.SuiteSucceeded:
		return Failed, text.Or(strings.Join(report.SpecialSuiteFailureReasons, "; "), "something outside the steps failed; see above")
	case site == nil:
		return Failed, "the lab was never looked at"
	}
	var partly []string
	if len(missing) > 0 {
		partly = append(partly, "not run: "+strings.Join(missing, ", "))
	} else if !items.Whole {
		asked := slices.IndexFunc(items.Steps, func(item Item) bool { return item.Asked })
		partly = append(partly, fmt.Sprintf("only step %d was asked for, and it passed", items.Steps[asked].Number))
	}
	astray := site.Versions().Drift(pins)
	if len(partly) == 0 && len(astray) > 0 {
		return partial, "every step passed, but " + strings.Join(astray, "; ")
	}
	if partly = append(partly, astray...); len(partly) > 0 {
		return partial, strings.Join(partly, "; ")
	}
	return passed, "every step was done and passed, on the versions that the lab pins"
}

// short says which steps and mistakes failed, and which of those that were asked
// for did not run.
func (c Summary) short() (wrong, missing []string) {
	for _, step := range c.Steps {
		switch {
		case step.State == Failed:
			wrong = append(wrong, fmt.Sprintf("step %d %s %s", step.Number, step.Name, step.Why))
		case step.State == notRun && step.Why != notAskedFor:
			missing = append(missing, fmt.Sprintf("step %d", step.Number))
		}
	}
	for _, mistake := range c.Mistakes {
		switch {
		case mistake.State == Failed:
			wrong = append(wrong, fmt.Sprintf("the mistake %s of step %d %s", mistake.Name, mistake.Number, mistake.Why))
		case mistake.State == notRun && (mistake.Code == "" || !mistake.reported), mistake.State == skipped && !mistake.reported:
			missing = append(missing, "the mistake "+mistake.Name)
		}
	}
	for _, probe := range c.Probes {
		switch {
		case probe.State == Failed:
			wrong = append(wrong, fmt.Sprintf("the claim %s %s", probe.Name, probe.Why))
		case probe.State == notRun && probe.Code == "" && probe.Why != notAskedFor:
			missing = append(missing, "the claim "+probe.Name)
		}
	}
	return wrong, missing
}
