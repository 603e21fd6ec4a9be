package lab

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/evidence"
	"gsb.test/jobset-e2e/e2e/internal/interrupts"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Define makes the specs of a plan: the mistakes first (their GPUs are free
// before train takes all that the queue has), then the steps in order. world is
// asked for when a spec runs, once the suite has connected.
func (p Plan) Define(world func() *cluster.Cluster) {
	// One container, one namespace, in order. A step that fails is no reason not
	// to judge one that does not need it: the steps share the queue and nothing
	// else, and a lab author wants to see all that is broken at once.
	ginkgo.Describe("The lab", ginkgo.Serial, ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		if p.Whole {
			for _, mistake := range p.Mistakes {
				mistake.define(world)
			}
		}
		failed := map[int]bool{}
		for _, step := range p.Steps {
			switch {
			case holds(p.Asked, step.Number):
				step.define(world, failed)
			case holds(p.First, step.Number):
				step.defineFirst(world, failed, p.Asked)
			}
		}
	})
}

// define makes the three specs of a step.
func (s Step) define(world func() *cluster.Cluster, failed map[int]bool) {
	s.container(world, failed, func(me func() *Learner) {
		it("is not passed by doing nothing", world, func(ctx context.Context) {
			snapshot := me().Look(ctx)
			if len(s.Judge(snapshot).Mismatches) == 0 {
				me().failWith("is passed before anything was done", report.Because(report.PassedTooEarly, "its check checks nothing, or the namespace was not empty."), outcome{last: snapshot})
			}
		})
		it("can be done as the text says", world, func(ctx context.Context) { s.Solve(ctx, me()) })
		it("is passed", world, func(ctx context.Context) { me().passes(ctx, s.JobSets, mismatchesOf(s.Judge), s.Lasting) })
	})
}

// defineFirst makes the one spec of a step that is only done because an asked
// one needs it.
func (s Step) defineFirst(world func() *cluster.Cluster, failed map[int]bool, asked []Step) {
	s.container(world, failed, func(me func() *Learner) {
		it(fmt.Sprintf("is done first, because step %d needs it", asked[0].Number), world, func(ctx context.Context) {
			s.Solve(ctx, me())
			me().passes(ctx, s.JobSets, mismatchesOf(s.Judge), false)
		})
	})
}

// container holds the specs of one step, runs none of them once one has failed
// or a step that this one needs has, and gathers the evidence of a failure.
func (s Step) container(world func() *cluster.Cluster, failed map[int]bool, specs func(me func() *Learner)) {
	ginkgo.Context(fmt.Sprintf("step %d %s: %s", s.Number, s.Name, s.Title), ginkgo.Label(fmt.Sprintf("%s%d", report.StepLabel, s.Number)), func() {
		ginkgo.BeforeEach(func() {
			for _, number := range append([]int{s.Number}, s.Needs...) {
				if failed[number] {
					// A step that could not be tried fails those that need it in turn.
					failed[s.Number] = true
					ginkgo.Skip(fmt.Sprintf("step %d failed", number))
				}
			}
		})
		ginkgo.AfterEach(func(ctx ginkgo.SpecContext) {
			if ginkgo.CurrentSpecReport().Failed() && !world().Interrupted() {
				failed[s.Number] = true
				heeding, heeded := world().WithInterrupt(ctx)
				defer heeded()
				evidence.Gather(heeding, world(), s.folder(), ginkgo.CurrentSpecReport().Failure.Message)
			}
		})
		specs(func() *Learner {
			return &Learner{world: world(), failureReport: s.FailureReport, folder: "steps",
				evidence: filepath.Join(world().Settings.EvidenceDir(), s.folder())}
		})
	})
}

func (s Step) folder() string { return fmt.Sprintf("step%d-%s", s.Number, s.Name) }

// passes waits until the judgement holds and, if it is of something that must
// not happen, watches that it goes on holding. It gives up where one of jobSets
// has come to a dead end. The snapshot that it passed on is kept, as a recording.
func (me *Learner) passes(ctx context.Context, jobSets []string, judge condition, lasting bool) {
	ginkgo.GinkgoHelper()
	end := poll(ctx, me.world, jobSets, judge)
	if end.met && lasting {
		end = staysMet(ctx, me.world, judge)
	}
	if !end.met {
		me.fail(report.NotPassed, end)
	}
	recording, err := end.last.Recording()
	if err == nil {
		err = report.SaveSnapshot(me.world.Settings, filepath.Base(me.evidence), recording)
	}
	if err != nil {
		ginkgo.Fail(err.Error())
	}
	// What a recording leaves out must be what no judgement asks for.
	if refusals := judge(recording); len(refusals) > 0 {
		me.fail("is passed, and its recording is not, so trim.go takes too much", outcome{last: recording, mismatches: refusals})
	}
}

// refusalsOf makes a condition of a step's or a mistake's Judge.
func mismatchesOf(judge func(*snapshot.Snapshot) *matchers.Check) condition {
	return func(s *snapshot.Snapshot) []*matchers.Mismatch { return judge(s).Mismatches }
}

// define makes the one spec of a mistake.
func (m Mistake) define(world func() *cluster.Cluster) {
	folder := m.folder()
	it("mistake "+m.Name+": "+m.Symptom, world, func(ctx context.Context) {
		me := &Learner{world: world(), failureReport: m.failureReport, folder: "mistakes",
			evidence: filepath.Join(world().Settings.EvidenceDir(), folder)}
		ginkgo.DeferCleanup(func(ctx ginkgo.SpecContext) {
			if ginkgo.CurrentSpecReport().Failed() && !world().Interrupted() {
				heeding, heeded := world().WithInterrupt(ctx)
				defer heeded()
				evidence.Gather(heeding, world(), folder, ginkgo.CurrentSpecReport().Failure.Message)
			}
			ending, ended := interrupts.CleanupContext(world(), ctx)
			defer ended()
			err := ownership.RemoveApplied(ending, world(), m.JobSet)
			if err == nil && !world().Interrupted() {
				// The next mistake, or the step itself, makes a JobSet of the same name.
				err = world().ResetHistory()
			}
			if err != nil {
				ginkgo.Fail(err.Error())
			}
		})
		if m.Refused == "" {
			me.Apply(ctx, m.Name+".yaml")
		} else {
			me.ApplyRefused(ctx, "mistakes/"+m.Name+".yaml", m.Refused)
		}
		if m.Trigger != nil {
			m.Trigger(ctx, me)
		}
		// What is a dead end for a step is where a mistake leads to.
		me.passes(ctx, nil, mismatchesOf(m.Judge), m.Lasting)
	}, ginkgo.Label(report.MistakeLabel+m.Name))
}

// it makes a spec that ends when the run is interrupted.
func it(text string, world func() *cluster.Cluster, body func(ctx context.Context), decorators ...any) {
	ginkgo.It(text, append(decorators, func(spec ginkgo.SpecContext) {
		interrupts.AbortIfInterrupted(world(), "before this was begun.")
		ctx, cancel := world().WithInterrupt(spec)
		defer cancel()
		body(ctx)
	})...)
}

func (m Mistake) folder() string { return "mistake-" + m.Name }

func holds(steps []Step, number int) bool {
	for _, step := range steps {
		if step.Number == number {
			return true
		}
	}
	return false
}
