package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// Commit is the commit that the suite was built from, with "-dirty" behind it if
// the checkout differed; the Makefile links it in.
var Commit = "unknown"

// The exit statuses of a run. A gate takes partial for failed (--strict).
const (
	ExitPassed  = 0
	ExitFailed  = 1
	ExitNotRun  = 2
	ExitPartial = 3
)

// A Verdict is what verdict.json holds: a run's result for a program to read.
// e2e/README.md describes each field.
type Verdict struct {
	// Schema changes when a field's meaning does.
	Schema  int       `json:"schema"`
	Run     string    `json:"run,omitempty"` // its id, which its JobSets carry too
	Verdict string    `json:"verdict"`       // passed, partial, failed or not run
	Reason  string    `json:"reason"`
	Suite   string    `json:"suite"` // the commit that the suite was built from
	Started time.Time `json:"started,omitzero"`
	Seconds float64   `json:"seconds"`

	Wanted preflight.Versions `json:"wanted"`
	Found  preflight.Versions `json:"found"`

	Preflight []preflight.Finding `json:"preflight,omitempty"`
	Steps     []Result            `json:"steps,omitempty"`
	Mistakes  []Result            `json:"mistakes,omitempty"`
	Claims    []ClaimResult       `json:"claims,omitempty"`

	FirstFailure *FirstFailure `json:"firstFailure,omitempty"`
}

// A FirstFailure is the first spec that failed, and all that it said.
type FirstFailure struct {
	// By is EnvironmentCheck, the number of a step as in "step 6", the name of a mistake
	// as in "mistake train-label-on-job-template", or "the suite itself".
	By   string `json:"by"`
	Spec string `json:"spec"`
	// At is when it failed; what the run does after that, such as gathering evidence,
	// is not in it.
	At time.Time `json:"at,omitzero"`
	// Code is the kind of the failure, of the environment check that of its first
	// wrong finding, and Cause that of what blocked the wait for it; both are empty
	// where the suite itself failed.
	Code    snapshot.Code `json:"code,omitempty"`
	Cause   snapshot.Code `json:"cause,omitempty"`
	Message string        `json:"message"`
}

// Exit is the exit status of a run that closed so.
func (c Summary) Exit() int {
	switch c.Verdict {
	case passed:
		return ExitPassed
	case partial:
		return ExitPartial
	case notRun:
		return ExitNotRun
	}
	return ExitFailed
}

// Reconcile fails a closing that is better than what Ginkgo says of the run in the
// end: what goes wrong after the closing was made, such as a report that cannot be
// written, fails the run too. It reports whether it changed anything.
func (c Summary) Reconcile(succeeded bool) (Summary, bool) {
	switch {
	case c.Verdict == "":
		c.Verdict, c.Reason = Failed, "the run ended without its closing; see above for what went wrong"
	case !succeeded && (c.Verdict == passed || c.Verdict == partial):
		c.Verdict, c.Reason = Failed, "something went wrong after the last step; see above"
	default:
		return c, false
	}
	return c, true
}

// ToVerdict is the closing for a program to read.
func (c Summary) ToVerdict() Verdict {
	return Verdict{Schema: 2, Run: c.Run, Verdict: c.Verdict, Reason: c.Reason, Suite: Commit, Started: c.Started, Seconds: c.Seconds,
		Wanted: c.Wanted, Found: c.Versions, Preflight: c.Findings, Steps: c.Steps, Mistakes: c.Mistakes, Claims: c.Claims, FirstFailure: c.First}
}

// EnvironmentCheck is FirstFailure.By where this is not the lab.
const EnvironmentCheck = "environment check"

// firstFailure finds the first spec of a run that failed; nil if none did.
func firstFailure(reports types.SpecReports, facts *preflight.Facts, pins fixtures.Pins) *FirstFailure {
	for _, report := range reports {
		if !report.State.Is(types.SpecStateFailureStates) {
			continue
		}
		first := &FirstFailure{By: "the suite itself", Spec: report.LeafNodeText, At: report.Failure.TimelineLocation.Time, Message: report.Failure.Message}
		if report.LeafNodeType.Is(types.NodeTypeBeforeSuite) {
			first.By, first.Spec = EnvironmentCheck, "is this the lab?"
			// An interrupt is nothing that the check found.
			if facts != nil && report.State.Is(types.SpecStateFailed) {
				if wrong := preflight.FirstWrong(preflight.Judge(facts, pins)); wrong != nil {
					first.Code = wrong.Code
				}
			}
		}
		for _, label := range report.Labels() {
			first.By = labelTitle(label, first.By)
		}
		if failure := failureOf(report); failure != nil {
			first.Code = failure.Code
			if failure.Blocker != nil {
				first.Cause = failure.Blocker.Code
			}
		}
		return first
	}
	return nil
}

func wanted(pins fixtures.Pins) preflight.Versions {
	return preflight.Versions{JobSet: pins.JobSet, Kueue: pins.Kueue}
}

func verdictPath(s settings.Settings) string { return filepath.Join(s.Reports, "verdict.json") }

// Begin takes away what an earlier run said, so that nobody takes it for this
// one's, and leaves a verdict that stands if this run is killed before its end.
// Until end is called, no other run writes into the folder of the reports.
func Begin(s settings.Settings) (end func(), err error) {
	end, err = removePreviousReports(s)
	if err != nil {
		return nil, err
	}
	return end, save(s, withoutRun(s, Failed, "the run has not come to its end: it still goes on, or it was killed"))
}

// SaveRefusal leaves a verdict of a run that did not even begin, in the place of
// an earlier run's. Where it cannot be written there is nothing more to say than
// what was reported already.
func SaveRefusal(s settings.Settings, refusal error) {
	if s.Reports == "" {
		return
	}
	end, err := removePreviousReports(s)
	if err != nil {
		return
	}
	defer end()
	_ = save(s, withoutRun(s, notRun, refusal.Error()))
}

// withoutRun is a verdict that no run has given.
func withoutRun(s settings.Settings, verdict, reason string) Verdict {
	v := Verdict{Schema: 2, Run: s.Run, Verdict: verdict, Reason: reason, Suite: Commit, Started: time.Now()}
	if pins, err := fixtures.ReadPins(); err == nil {
		v.Wanted = wanted(pins)
	}
	return v
}

// save replaces the verdict in one go: who reads it meanwhile reads one or the other.
func save(s settings.Settings, verdict Verdict) error {
	content, err := json.MarshalIndent(verdict, "", "  ")
	if err == nil {
		err = files.ReplaceFile(verdictPath(s), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("saving the verdict: %w", err)
	}
	return nil
}

// removePreviousReports takes an earlier run's reports away, and makes the folder for this one's,
// in which no other run writes until end is called.
func removePreviousReports(s settings.Settings) (end func(), err error) {
	if end, err = Hold(s); err != nil {
		return nil, err
	}
	if err := removeReports(s, "verdict.json", "closing.txt", "junit.xml", "specs.json", "report.html", "timeline.json"); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// ReadVerdict reads the verdict that lies in the folder of the reports.
func ReadVerdict(s settings.Settings) (Verdict, error) {
	var verdict Verdict
	content, err := os.ReadFile(verdictPath(s))
	if err == nil {
		err = json.Unmarshal(content, &verdict)
	}
	if err != nil {
		return verdict, fmt.Errorf("reading the verdict: %w", err)
	}
	return verdict, nil
}

// Hold makes the folder of the reports if it is missing, and keeps other runs from
// writing into it until end is called.
func Hold(s settings.Settings) (end func(), err error) {
	if err := os.MkdirAll(s.Reports, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the reports: %w", err)
	}
	if err := claimReports(s); err != nil {
		return nil, err
	}
	return lockReports(s)
}
