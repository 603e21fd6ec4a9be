package report

import (
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Failure is a failed spec as data. It is made once, where the spec fails, and
// travels as a report entry of that spec; the terminal, verdict.json, JUnit and
// the faults read it and never the text.
type Failure struct {
	// Stage is "cannot be done" if the learner's part failed, "is not passed" if
	// the check did.
	Stage string `json:"stage"`
	// Mismatch is the first thing that does not hold.
	matchers.Mismatch
	// Others are all other things that do not hold.
	Others []*matchers.Mismatch `json:"others,omitempty"`
	// Blocker is why waiting longer would not have helped; nil if nothing was seen
	// to block.
	Blocker *blockers.Blocker `json:"blocker,omitempty"`
	// Waited is how long the wait took, in seconds.
	Waited float64 `json:"waited,omitempty"`
	// Words are what the controllers said: of what, which condition or reason, the words.
	Words [][]string `json:"words,omitempty"`
}

// The stages of a Failure.
const (
	NotPassed = "is not passed"
	NotDone   = "cannot be done"
	// NotHere is of a mistake or a claim that this lab is not of.
	NotHere = "is not about this lab"
)

// FailureEntry is the name of the report entry that holds a Failure.
const FailureEntry = "failure"

// Codes of failures that no matcher makes.
const (
	LabUnreadable      snapshot.Code = "LabUnreadable"
	ApplyRefused       snapshot.Code = "ApplyRefused"
	ApplyFailed        snapshot.Code = "ApplyFailed"
	CommandFailed      snapshot.Code = "CommandFailed"
	WorkDirUnwritable  snapshot.Code = "WorkDirUnwritable"
	FixtureUnreadable  snapshot.Code = "FixtureUnreadable"
	PassedTooEarly     snapshot.Code = "PassedTooEarly"
	RecordingIncorrect snapshot.Code = "RecordingIncorrect"
	ProbeUnanswered    snapshot.Code = "ProbeUnanswered"
	ClaimElsewhere     snapshot.Code = "ClaimElsewhere"
	IntegrationOff     snapshot.Code = "IntegrationOff"
)

// Because makes a Mismatch of an error. The error's own text is all there is to
// say, so it has no Korean sentence.
func Because(code snapshot.Code, message string) *matchers.Mismatch {
	return &matchers.Mismatch{Code: code, Text: snapshot.Text{EN: text.Visible(strings.TrimSpace(message))}}
}

// Report attaches the failure to the running spec.
func (s FailureReport) Report() {
	failure := s.Failure
	if s.Snapshot != nil {
		failure.Words = words(s.Snapshot, s.JobSets)
	}
	ginkgo.AddReportEntry(FailureEntry, failure, types.ReportEntryVisibilityNever)
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

// sentence says on one line how the spec failed: the cause, where one was seen.
func (f Failure) sentence() string {
	if f.Blocker != nil {
		return f.Stage + ": " + text.FirstLine(f.Blocker.Message)
	}
	return f.Stage + ": " + text.FirstLine(f.EN)
}
