package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// An outcome is how a wait ended.
type outcome struct {
	held     bool
	refusals []*Refusal // what did not hold at last
	blocker  Blocker    // why waiting longer would not have helped
	waited   time.Duration
	last     *Snapshot // the snapshot judged last, nil if none could be taken
	blind    error     // why the last look saw nothing
}

// A condition judges a snapshot, and returns what does not hold of it.
type condition func(*Snapshot) []*Refusal

// await looks at the lab again and again until the judgement, which returns why
// it does not hold, holds: at most SoonEnough, and no longer than it can still
// come to hold. Gomega polls; the words of a failure are ours.
func (w *World) await(ctx context.Context, jobSets []string, judge condition) outcome {
	end := outcome{held: true}
	started := time.Now()
	g := gomega.NewGomega(func(string, ...int) { end.held = false })
	g.Eventually(ctx, w.looking(&end)).Should(&holding{judge: judge, jobSets: jobSets, end: &end})
	return ended(end, started)
}

// remains watches that the judgement goes on holding for NeverWithin.
func (w *World) remains(ctx context.Context, judge condition) outcome {
	end := outcome{held: true}
	started := time.Now()
	g := gomega.NewGomega(func(string, ...int) { end.held = false })
	g.Consistently(ctx, w.looking(&end)).Should(&holding{judge: judge, end: &end})
	return ended(end, started)
}

// looking is Look, keeping what went wrong with the last look. Whether the
// controllers are there only matters to a wait, so only here it is asked.
func (w *World) looking(end *outcome) func(context.Context) (*Snapshot, error) {
	return func(ctx context.Context) (*Snapshot, error) {
		snapshot, err := w.Look(ctx)
		end.blind = err
		if err == nil {
			snapshot.Controllers = w.controllers(ctx)
		}
		return snapshot, err
	}
}

func ended(end outcome, started time.Time) outcome {
	end.waited = time.Since(started)
	if end.held {
		return end
	}
	if end.blind != nil {
		end.refusals = append([]*Refusal{because(LabUnreadable, "The lab could not be looked at: "+end.blind.Error())}, end.refusals...)
	}
	return end
}

// holding is a judgement of a Snapshot as a Gomega matcher that remembers what
// it saw, and stops the polling at a dead end.
type holding struct {
	judge   condition
	jobSets []string
	end     *outcome

	// held is what was seen to hold the JobSets up at the last look, since when.
	held  Blocker
	since time.Time
}

var _ types.GomegaMatcher = &holding{}

func (h *holding) Match(actual any) (bool, error) {
	snapshot, ok := actual.(*Snapshot)
	if !ok || snapshot == nil {
		return false, errors.New("no snapshot")
	}
	h.end.last, h.end.refusals = snapshot, h.judge(snapshot)
	if len(h.end.refusals) == 0 {
		return true, nil
	}
	if h.end.blocker = snapshot.DeadEnd(h.jobSets); h.end.blocker.Code != "" {
		return false, gomega.StopTrying(h.end.blocker.Message)
	}
	if h.end.blocker = h.lasting(snapshot); h.end.blocker.Code != "" {
		return false, gomega.StopTrying(h.end.blocker.Message)
	}
	return false, nil
}

// lasting tells what has held the JobSets up at every look for long enough.
func (h *holding) lasting(snapshot *Snapshot) Blocker {
	held := snapshot.HeldUp(h.jobSets)
	if held.Code != h.held.Code || held.JobSet != h.held.JobSet {
		h.since = snapshot.Taken
	}
	h.held = held
	// By now and not by when it was looked at: a judgement may take seconds.
	so := time.Since(h.since)
	if held.Code == "" || so < held.For {
		return Blocker{}
	}
	held.Message = fmt.Sprintf("for %.0f s already %s", so.Seconds(), held.Message)
	return held
}

func (h *holding) FailureMessage(any) string { return fmt.Sprint(h.end.refusals) }

func (h *holding) NegatedFailureMessage(any) string {
	return "this was expected not to hold, and it holds"
}
