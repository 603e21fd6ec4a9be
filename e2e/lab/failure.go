package lab

import (
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

// A Failure is a failed spec as data. It is made once, where the spec fails, and
// travels as a report entry of that spec; the terminal, verdict.json, JUnit and
// the faults read it and never the text.
type Failure struct {
	// Stage is "cannot be done" if the learner's part failed, "is not passed" if
	// the check did.
	Stage string `json:"stage"`
	// Refusal is the first thing that does not hold.
	Refusal
	// Others are all other things that do not hold.
	Others []*Refusal `json:"others,omitempty"`
	// Blocker is why waiting longer would not have helped; nil if nothing was seen
	// to block.
	Blocker *Blocker `json:"blocker,omitempty"`
	// Waited is how long the wait took, in seconds.
	Waited float64 `json:"waited,omitempty"`
}

// The stages of a Failure.
const (
	notPassed = "is not passed"
	notDone   = "cannot be done"
)

// failureEntry is the name of the report entry that holds a Failure.
const failureEntry = "failure"

// Codes of failures that no matcher makes.
const (
	LabUnreadable      Code = "LabUnreadable"
	ApplyRefused       Code = "ApplyRefused"
	ApplyFailed        Code = "ApplyFailed"
	CommandFailed      Code = "CommandFailed"
	WorkDirUnwritable  Code = "WorkDirUnwritable"
	FixtureUnreadable  Code = "FixtureUnreadable"
	PassedTooEarly     Code = "PassedTooEarly"
	RecordingIncorrect Code = "RecordingIncorrect"
)

// because makes a Refusal of an error. The error's own text is all there is to
// say, so it has no Korean sentence.
func because(code Code, message string) *Refusal {
	return &Refusal{Code: code, Words: Words{EN: strings.TrimSpace(message)}}
}

func newFailure(stage string, end outcome) Failure {
	failure := Failure{Stage: stage, Refusal: *end.refusals[0], Others: end.refusals[1:], Waited: seconds(end.waited.Round(time.Millisecond))}
	if end.blocker.Code != "" {
		failure.Blocker = &end.blocker
	}
	return failure
}

// report attaches the failure to the running spec.
func (f Failure) report() {
	ginkgo.AddReportEntry(failureEntry, f, types.ReportEntryVisibilityNever)
}

// failureOf returns the Failure that a spec's report carries; nil if the spec
// failed in another way, such as by a panic.
func failureOf(report types.SpecReport) *Failure {
	for _, entry := range report.ReportEntries {
		if failure, ok := entry.GetRawValue().(Failure); ok {
			return &failure
		}
	}
	return nil
}

// sentence says on one line how the spec failed.
func (f Failure) sentence() string { return f.Stage + ": " + firstLine(f.EN) }
