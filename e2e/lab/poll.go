package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// An outcome is how a wait ended.
type outcome struct {
	met        bool
	mismatches []*matchers.Mismatch // what did not hold at last
	blocker    blockers.Blocker     // why waiting longer would not have helped
	waited     time.Duration
	last       *snapshot.Snapshot // the snapshot judged last, nil if none could be taken
	readErr    error              // why the last look saw nothing
}

// A condition judges a snapshot, and returns what does not hold of it.
type condition func(*snapshot.Snapshot) []*matchers.Mismatch

// poll looks at the lab again and again until the judgement, which returns why
// it does not hold, holds: at most SoonEnough, and no longer than it can still
// come to hold. Gomega polls; the words of a failure are ours.
func poll(ctx context.Context, w *cluster.Cluster, jobSets []string, judge condition) outcome {
	return pollFor(ctx, cluster.SoonEnough, w, jobSets, judge)
}

func pollFor(ctx context.Context, within time.Duration, w *cluster.Cluster, jobSets []string, judge condition) outcome {
	end := outcome{met: true}
	started := time.Now()
	g := gomega.NewGomega(func(string, ...int) { end.met = false })
	look, first := reader(w, &end), true
	// Each look lists a dozen kinds, and others look too: it waits for something to see.
	changed := func(ctx context.Context) (*snapshot.Snapshot, error) {
		if !first {
			w.AwaitChange(ctx)
		}
		first = false
		return look(ctx)
	}
	g.Eventually(ctx, changed).WithTimeout(within).Should(&poller{judge: judge, jobSets: jobSets, end: &end})
	return finish(end, started)
}

// staysMet watches that the judgement goes on holding for NeverWithin.
func staysMet(ctx context.Context, w *cluster.Cluster, judge condition) outcome {
	end := outcome{met: true}
	started := time.Now()
	g := gomega.NewGomega(func(string, ...int) { end.met = false })
	g.Consistently(ctx, reader(w, &end)).Should(&poller{judge: judge, end: &end})
	return finish(end, started)
}

// reader is Look, keeping what went wrong with the last look. Whether controllers and
// nodes are there only matters to a wait, so only here it is asked.
func reader(w *cluster.Cluster, end *outcome) func(context.Context) (*snapshot.Snapshot, error) {
	return func(ctx context.Context) (*snapshot.Snapshot, error) {
		snapshot, err := w.Look(ctx)
		end.readErr = err
		if err == nil {
			w.LookAround(ctx, snapshot)
		}
		return snapshot, err
	}
}

func finish(end outcome, started time.Time) outcome {
	end.waited = time.Since(started)
	if end.met {
		return end
	}
	if end.readErr != nil {
		end.mismatches = append([]*matchers.Mismatch{report.Because(report.LabUnreadable, "The lab could not be looked at: "+end.readErr.Error())}, end.mismatches...)
	}
	return end
}

// poller is a judgement of a Snapshot as a Gomega matcher that remembers what
// it saw, and stops the polling at a dead end.
type poller struct {
	judge   condition
	jobSets []string
	end     *outcome

	// held is what was seen to hold the JobSets up at the last look, since when.
	held  blockers.Blocker
	since time.Time
}

var _ types.GomegaMatcher = &poller{}

func (h *poller) Match(actual any) (bool, error) {
	snapshot, ok := actual.(*snapshot.Snapshot)
	if !ok || snapshot == nil {
		return false, errors.New("no snapshot")
	}
	h.end.last, h.end.mismatches = snapshot, h.judge(snapshot)
	if len(h.end.mismatches) == 0 {
		return true, nil
	}
	if slices.ContainsFunc(h.end.mismatches, func(m *matchers.Mismatch) bool { return m.OfSpec }) {
		return false, gomega.StopTrying("a JobSet asks for something else, and goes on doing so")
	}
	if h.end.blocker = blockers.Final(snapshot, h.jobSets); h.end.blocker.Code != "" {
		return false, gomega.StopTrying(h.end.blocker.Message)
	}
	if h.end.blocker = h.blockedFor(snapshot); h.end.blocker.Code != "" {
		return false, gomega.StopTrying(h.end.blocker.Message)
	}
	return false, nil
}

// blockedFor tells what has held the JobSets up at every look for long enough.
func (h *poller) blockedFor(snapshot *snapshot.Snapshot) blockers.Blocker {
	held := blockers.Find(snapshot, h.jobSets)
	if held.Code != h.held.Code || held.JobSet != h.held.JobSet {
		h.since = snapshot.Taken
	}
	h.held = held
	// By now and not by when it was looked at: a judgement may take seconds.
	so := time.Since(h.since)
	if held.Code == "" || so < held.For {
		return blockers.Blocker{}
	}
	held.Message = fmt.Sprintf("for %.0f s already %s", so.Seconds(), held.Message)
	return held
}

func (h *poller) FailureMessage(any) string { return fmt.Sprint(h.end.mismatches) }

func (h *poller) NegatedFailureMessage(any) string {
	return "this was expected not to hold, and it holds"
}

// readOnce takes one snapshot for an outcome that is not (yet) a success.
func readOnce(ctx context.Context, w *cluster.Cluster) outcome {
	snapshot, err := w.Look(ctx)
	if err != nil {
		return outcome{mismatches: []*matchers.Mismatch{report.Because(report.LabUnreadable, "The lab could not be looked at: "+err.Error())}}
	}
	return outcome{last: snapshot}
}

// see is glance for an action that cannot go on without it.
func see(ctx context.Context, w *cluster.Cluster) (end outcome) {
	err := w.Persist(ctx, func(ctx context.Context) (err error) {
		end.last, err = w.Look(ctx)
		return err
	})
	if err != nil {
		end = outcome{mismatches: []*matchers.Mismatch{report.Because(report.LabUnreadable, "The lab could not be looked at: "+err.Error())}}
	}
	return end
}
