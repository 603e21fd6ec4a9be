// Package lab is what a step is written with: the record (Step, Mistake, Course), and
// the Learner who does it. A step is judged with package matchers.
package lab

import (
	"context"
	"fmt"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Step is one step of the lab: what a learner does, and what must then be
// true. The record is all there is to a step.
type Step struct {
	// Number and Name are how people call the step: STEP=4, STEP=fragile.
	Number int
	Name   string

	// Title and Task are the lab text's own: the heading of the step, and its
	// one line in the list of steps.
	Title string
	Task  string

	// JobSets and Files are those that the step is about. A failure tells of
	// them and of nothing else.
	JobSets []string
	Files   []string

	// Needs are the steps that must be done before this one can be.
	Needs []int

	// Lasting marks a step whose Check says that something does not happen:
	// once passed it is watched for NeverWithin.
	Lasting bool

	// Solve does the step as the lab text says.
	Solve func(ctx context.Context, me *Learner)

	// Check judges the step. It is a pure function of the Snapshot, and every
	// judgement in it is one of this package's words.
	Check func(c *matchers.Check, s *snapshot.Snapshot)
}

// Judge checks the step against a snapshot. What does not hold is in the result,
// the first one first; the step is passed if there is nothing.
func (s Step) Judge(snapshot *snapshot.Snapshot) *matchers.Check {
	c := &matchers.Check{}
	s.Check(c, snapshot)
	return c
}

// String is how a step is called in a sentence.
func (s Step) String() string { return fmt.Sprintf("Step %d %s «%s»", s.Number, s.Name, s.Title) }

// FailureReport reports a failure of this step.
func (s Step) FailureReport(failure report.Failure, snapshot *snapshot.Snapshot) report.FailureReport {
	return report.FailureReport{Subject: s.String(), Failure: failure, JobSets: s.JobSets, Files: s.Files, Snapshot: snapshot, Task: s.Task}
}
