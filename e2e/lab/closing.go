package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/fixtures"
)

// A Result is how one step or mistake came out.
type Result struct {
	Number  int     `json:"number"` // of a mistake, the step that it is made in
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	State   string  `json:"result"`         // passed, failed, not run, or done (first, for another step)
	Code    Code    `json:"code,omitempty"` // of a failed one, the kind of its first mismatch
	Why     string  `json:"why,omitempty"`  // for all but passed and done, in one sentence
	Seconds float64 `json:"seconds"`
}

// The states of a Result.
const (
	passed = "passed"
	failed = "failed"
	notRun = "not run"
	done   = "done"
	// partial is a verdict only.
	partial = "partial"
)

// Why a step was not run where nothing failed it.
const (
	notAskedFor = "not asked for"
	endedBefore = "the run ended before it"
)

// A Closing is the end of a run, for a person: every step, the versions, the
// verdict with its reason, and where the rest lies.
type Closing struct {
	Run      string // its id
	Steps    []Result
	Mistakes []Result
	Findings []Finding // the preflight's
	Wanted   Versions
	Versions Versions
	Verdict  string // passed, partial, failed or not run
	Reason   string
	First    *FirstFailure
	Started  time.Time
	Seconds  float64    // of the whole run
	Lies     [][]string // what lies where
}

// Items are what a run reports of.
type Items struct {
	Steps, Mistakes []Item
	// Whole tells that every step was asked for.
	Whole bool
}

// An Item is one step or mistake as a report lists it.
type Item struct {
	Label       string // of its specs
	Number      int    // of a mistake, the step that it is made in
	Name, Title string
	// Asked marks a step that is to be judged, First one that is only done because
	// an asked one needs it.
	Asked, First bool
}

// Close sums up what Ginkgo reports of a run. site may be nil if the run ended
// before the cluster was looked at.
func Close(report types.Report, items Items, site *Site, pins fixtures.Pins) Closing {
	closing := Closing{Wanted: wanted(pins), Started: report.StartTime, Seconds: seconds(report.RunTime), First: firstFailure(report.SpecReports)}
	for _, item := range items.Steps {
		closing.Steps = append(closing.Steps, item.result(report.SpecReports))
	}
	for _, item := range items.Mistakes {
		result := Result{Number: item.Number, Name: item.Name, Title: item.Title}
		result.take(labelled(report.SpecReports, item.Label))
		closing.Mistakes = append(closing.Mistakes, result)
	}
	if site != nil {
		closing.Versions = site.Versions()
	}
	closing.Verdict, closing.Reason = closing.judge(report, items, site, pins)
	return closing
}

func (i Item) result(reports types.SpecReports) Result {
	result := Result{Number: i.Number, Name: i.Name, Title: i.Title}
	if !i.Asked && !i.First {
		result.State, result.Why = notRun, notAskedFor
		return result
	}
	result.take(labelled(reports, i.Label))
	if result.State == passed && i.First {
		result.State = done
	}
	return result
}

func labelled(reports types.SpecReports, label string) types.SpecReports {
	var found types.SpecReports
	for _, report := range reports {
		if slices.Contains(report.Labels(), label) {
			found = append(found, report)
		}
	}
	return found
}

// take sums up the specs of one step. A spec that was skipped leaves the step
// not run; a failed one outweighs it.
func (r *Result) take(reports types.SpecReports) {
	r.State = passed
	if len(reports) == 0 {
		r.State, r.Why = notRun, endedBefore
	}
	for _, report := range reports {
		r.Seconds += report.RunTime.Seconds()
		switch {
		case report.State.Is(types.SpecStateAborted | types.SpecStateInterrupted):
			r.State, r.Why = notRun, "interrupted"
		case report.State.Is(types.SpecStateFailureStates):
			r.State, r.Why = failed, firstLine(report.Failure.Message)
			if failure := failureOf(report); failure != nil {
				r.Code, r.Why = failure.Code, failure.sentence()
			}
		case !report.State.Is(types.SpecStatePassed) && r.State == passed:
			r.State, r.Why = notRun, or(report.Failure.Message, endedBefore)
		}
	}
	r.Seconds = seconds(time.Duration(r.Seconds * float64(time.Second)))
}

// judge gives the verdict. It is passed only if every step was run and passed,
// on the versions that the lab pins.
func (c Closing) judge(report types.Report, items Items, site *Site, pins fixtures.Pins) (verdict, reason string) {
	for _, spec := range report.SpecReports {
		if spec.State.Is(types.SpecStateAborted | types.SpecStateInterrupted) {
			if strings.HasPrefix(spec.Failure.Message, errLost.Error()) {
				return failed, firstLine(spec.Failure.Message)
			}
			return failed, "the run was interrupted"
		}
	}
	for _, setup := range report.SpecReports {
		if setup.LeafNodeType.Is(types.NodeTypeBeforeSuite) && setup.State.Is(types.SpecStateFailureStates) {
			if site != nil && (site.Unreachable != nil || site.Occupied != nil) {
				return notRun, firstLine(setup.Failure.Message)
			}
			return failed, firstLine(setup.Failure.Message)
		}
	}
	wrong, missing := c.short()
	switch {
	case len(c.Steps) == 0:
		return failed, "this suite has no step"
	case len(wrong) == 1:
		return failed, wrong[0]
	case len(wrong) > 1:
		return failed, fmt.Sprintf("%s (and %d more)", wrong[0], len(wrong)-1)
	case !report.SuiteSucceeded:
		return failed, or(strings.Join(report.SpecialSuiteFailureReasons, "; "), "something outside the steps failed; it is told above")
	case site == nil:
		return failed, "the lab was never looked at"
	}
	var partly []string
	if len(missing) > 0 {
		partly = append(partly, "not run: "+strings.Join(missing, ", "))
	} else if !items.Whole {
		asked := slices.IndexFunc(items.Steps, func(item Item) bool { return item.Asked })
		partly = append(partly, fmt.Sprintf("only step %d was asked for, and it passed", items.Steps[asked].Number))
	}
	astray := site.Versions().Astray(pins)
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
func (c Closing) short() (wrong, missing []string) {
	for _, step := range c.Steps {
		switch {
		case step.State == failed:
			wrong = append(wrong, fmt.Sprintf("step %d %s %s", step.Number, step.Name, step.Why))
		case step.State == notRun && step.Why != notAskedFor:
			missing = append(missing, fmt.Sprintf("step %d", step.Number))
		}
	}
	for _, mistake := range c.Mistakes {
		switch mistake.State {
		case failed:
			wrong = append(wrong, fmt.Sprintf("the mistake %s of step %d %s", mistake.Name, mistake.Number, mistake.Why))
		case notRun:
			missing = append(missing, "the mistake "+mistake.Name)
		}
	}
	return wrong, missing
}
