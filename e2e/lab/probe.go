package lab

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Probe is the spec of a claim of the lab text that no step and no mistake proves:
// what the lab is asked for it, and what must then be true. It is reported, and the
// verdict does not depend on it.
type Probe struct {
	// Name is how fixtures/claims.yaml calls it.
	Name string
	// Step is the number of the step after which the lab is asked; before all, if 0.
	Step int
	// Ask asks the lab, and puts what it answers into the snapshot's Answers. It is nil
	// where the snapshot itself says enough.
	Ask func(ctx context.Context, me *Learner, s *snapshot.Snapshot) error
	// Elsewhere says why the claim is not about this lab; empty if it is. It may be nil.
	Elsewhere func(s *snapshot.Snapshot) string
	// Check judges the answers; see Step.Check.
	Check func(c *matchers.Check, s *snapshot.Snapshot)
}

// Judge checks a snapshot for what is claimed; see Step.Judge.
func (p Probe) Judge(s *snapshot.Snapshot) *matchers.Check {
	c := &matchers.Check{}
	p.Check(c, s)
	return c
}

// String is how a probe is called in a sentence.
func (p Probe) String() string { return "The claim " + p.Name }

func (p Probe) failureReport(failure report.Failure, s *snapshot.Snapshot) report.FailureReport {
	return report.FailureReport{Subject: p.String(), Failure: failure, Snapshot: s}
}

// defineProbes makes the specs of the claims that belong to a step, after it.
func (p *progress) defineProbes(step int) {
	for _, probe := range p.course.Probes {
		if probe.Step != step {
			continue
		}
		it("claim "+probe.Name, p.connected, func(ctx context.Context) {
			if p.failed[step] {
				ginkgo.Skip(fmt.Sprintf("step %d failed", step))
			}
			for _, needed := range p.course.Steps {
				if needed.Number == step {
					p.do(ctx, needed)
				}
			}
			me := &Learner{cluster: p.connected(), failureReport: probe.failureReport, reported: true, folder: "steps",
				evidence: filepath.Join(p.connected().Settings.EvidenceDir(), "claim-"+probe.Name)}
			probe.run(ctx, me)
		}, ginkgo.Label(report.ProbeLabel+probe.Name))
	}
}

// run asks until the claim holds, for no longer than what must not happen is watched for:
// what is claimed is true by then.
func (p Probe) run(ctx context.Context, me *Learner) {
	var unasked error
	end := pollFor(ctx, cluster.NeverWithin, me.cluster, nil, func(s *snapshot.Snapshot) []*matchers.Mismatch {
		s.Answers = &snapshot.Answers{}
		if p.Ask != nil {
			within, cancel := cluster.Brief(ctx)
			defer cancel()
			if unasked = p.Ask(within, me, s); unasked != nil {
				return []*matchers.Mismatch{report.Because(report.ProbeUnanswered, unasked.Error())}
			}
		}
		if p.Elsewhere != nil && p.Elsewhere(s) != "" {
			return nil
		}
		return p.Judge(s).Mismatches
	})
	switch {
	case !end.met && (unasked != nil || end.last == nil):
		me.fail(report.NotDone, end)
	case !end.met:
		me.fail(report.NotPassed, end)
	case p.Elsewhere != nil && p.Elsewhere(end.last) != "":
		me.failWith(report.NotHere, report.Because(report.ClaimElsewhere, p.Elsewhere(end.last)), end)
	}
	recording, err := end.last.Recording()
	if err == nil {
		err = report.SaveSnapshot(me.cluster.Settings, filepath.Base(me.evidence), recording)
	}
	if err != nil {
		ginkgo.Fail(err.Error())
	}
}
