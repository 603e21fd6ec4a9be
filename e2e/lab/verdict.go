package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2/types"

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
// README.md describes each field.
type Verdict struct {
	// Schema changes when a field's meaning does.
	Schema  int       `json:"schema"`
	Verdict string    `json:"verdict"` // passed, partial, failed or not run
	Reason  string    `json:"reason"`
	Suite   string    `json:"suite"` // the commit that the suite was built from
	Started time.Time `json:"started,omitzero"`
	Seconds float64   `json:"seconds"`

	Wanted Versions `json:"wanted"`
	Found  Versions `json:"found"`

	Preflight []Finding `json:"preflight,omitempty"`
	Steps     []Result  `json:"steps,omitempty"`
	Mistakes  []Result  `json:"mistakes,omitempty"`

	FirstFailure *FirstFailure `json:"firstFailure,omitempty"`
}

// A FirstFailure is the first spec that failed, and all that it said.
type FirstFailure struct {
	// By is preflight, the number of a step as in "step 6", or the name of a
	// mistake as in "mistake train-label-on-job-template".
	By      string `json:"by"`
	Spec    string `json:"spec"`
	Message string `json:"message"`
}

// Exit is the exit status of a run that closed so.
func (c Closing) Exit() int {
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

// Machine is the closing for a program to read.
func (c Closing) Machine() Verdict {
	return Verdict{Schema: 1, Verdict: c.Verdict, Reason: c.Reason, Suite: Commit, Started: c.Started, Seconds: c.Seconds,
		Wanted: c.Wanted, Found: c.Versions, Preflight: c.Findings, Steps: c.Steps, Mistakes: c.Mistakes, FirstFailure: c.First}
}

// firstFailure finds the first spec of a run that failed; nil if none did.
func firstFailure(reports types.SpecReports) *FirstFailure {
	for _, report := range reports {
		if !report.State.Is(types.SpecStateFailureStates) {
			continue
		}
		first := &FirstFailure{By: "the suite itself", Spec: report.LeafNodeText, Message: report.Failure.Message}
		if report.LeafNodeType.Is(types.NodeTypeBeforeSuite) {
			first.By, first.Spec = "preflight", "is this the lab?"
		}
		for _, label := range report.Labels() {
			first.By = calledBy(label, first.By)
		}
		return first
	}
	return nil
}

func wanted(pins fixtures.Pins) Versions { return Versions{JobSet: pins.JobSet, Kueue: pins.Kueue} }

func (s Settings) verdictPath() string { return filepath.Join(s.Reports, "verdict.json") }

// SaveRefusal leaves a verdict of a run that did not even begin. Where the reports
// cannot be written there is nothing more to say than what was told already.
func (s Settings) SaveRefusal(refusal error) {
	if s.Reports == "" {
		return
	}
	refused := Verdict{Schema: 1, Verdict: notRun, Reason: refusal.Error(), Suite: Commit, Started: time.Now()}
	if pins, err := fixtures.ReadPins(); err == nil {
		refused.Wanted = wanted(pins)
	}
	_ = s.save(refused)
}

func (s Settings) save(verdict Verdict) error {
	content, err := json.MarshalIndent(verdict, "", "  ")
	if err == nil {
		err = os.WriteFile(s.verdictPath(), append(content, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("saving the verdict: %w", err)
	}
	return nil
}

// forget takes an earlier run's verdict away, so that nobody takes it for this one's.
func (s Settings) forget() error {
	for _, path := range []string{s.verdictPath(), s.closingPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the verdict of an earlier run: %w", err)
		}
	}
	return nil
}
