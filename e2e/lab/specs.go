package lab

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/evidence"
	"gsb.test/jobset-e2e/e2e/internal/interrupts"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Define makes the specs of a plan: the mistakes first (their GPUs are free
// before train takes all that the queue has), then the steps in order. connected
// returns the cluster once the suite has connected; it is called when a spec runs.
func (p Plan) Define(connected func() *cluster.Cluster) {
	// One container, one namespace, in order. A step that fails is no reason not
	// to judge one that does not need it: the steps share the queue and nothing
	// else, and a lab author wants to see all that is broken at once.
	ginkgo.Describe("The lab", ginkgo.Serial, ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		so := &progress{course: p.Course, connected: connected, done: map[int]bool{}, failed: map[int]bool{}}
		if p.Whole {
			so.defineProbes(0)
			made := &lanes{mistakes: p.Mistakes, connected: connected}
			for _, mistake := range p.Mistakes {
				mistake.define(made)
			}
			ginkgo.AfterAll(made.wait)
		}
		for _, step := range p.Steps {
			switch {
			case holds(p.Asked, step.Number):
				so.define(step)
				so.defineProbes(step.Number)
			case holds(p.First, step.Number):
				so.defineFirst(step, p.Asked)
			}
		}
	})
}

// progress is how far a run has come, and on which cluster.
type progress struct {
	course       Course
	connected    func() *cluster.Cluster
	done, failed map[int]bool
}

// define makes the three specs of a step.
func (p *progress) define(s Step) {
	p.container(s, func(me func() *Learner) {
		it("is not passed by doing nothing", p.connected, func(ctx context.Context) {
			snapshot := me().Look(ctx)
			if len(s.Judge(snapshot).Mismatches) == 0 {
				me().failWith("is passed before anything was done", report.Because(report.PassedTooEarly, "its check checks nothing, or the namespace was not empty."), outcome{last: snapshot})
			}
		})
		it("can be done as the text says", p.connected, func(ctx context.Context) { s.Solve(ctx, me()) })
		it("is passed", p.connected, func(ctx context.Context) {
			me().passes(ctx, s.JobSets, mismatchesOf(s.Judge), s.Lasting)
			p.done[s.Number] = true
		})
	})
}

// defineFirst makes the one spec of a step that is only done because an asked
// one needs it.
func (p *progress) defineFirst(s Step, asked []Step) {
	p.container(s, func(func() *Learner) {
		it(fmt.Sprintf("is done first, because step %d needs it", asked[0].Number), p.connected, func(ctx context.Context) { p.do(ctx, s) })
	})
}

// do does a step that is not asked for, once.
func (p *progress) do(ctx context.Context, s Step) {
	if p.done[s.Number] {
		return
	}
	ginkgo.By(fmt.Sprintf("do step %d %s", s.Number, s.Name))
	me := p.learner(s)
	s.Solve(ctx, me)
	me.passes(ctx, s.JobSets, mismatchesOf(s.Judge), false)
	p.done[s.Number] = true
}

// container holds the specs of one step, runs none of them once one has failed
// or a step that this one needs has, and gathers the evidence of a failure.
func (p *progress) container(s Step, specs func(me func() *Learner)) {
	ginkgo.Context(fmt.Sprintf("step %d %s: %s", s.Number, s.Name, s.Title), ginkgo.Label(fmt.Sprintf("%s%d", report.StepLabel, s.Number)), func() {
		ginkgo.BeforeEach(func(spec ginkgo.SpecContext) {
			for _, number := range append([]int{s.Number}, s.Needs...) {
				if p.failed[number] {
					// A step that could not be tried fails those that need it in turn.
					p.failed[s.Number] = true
					ginkgo.Skip(fmt.Sprintf("step %d failed", number))
				}
			}
			// Ginkgo's label filter knows nothing of what a step needs.
			ctx, done := p.connected().WithInterrupt(spec)
			defer done()
			for _, needed := range p.course.Steps {
				if p.course.needed(s, needed.Number) {
					p.do(ctx, needed)
				}
			}
		})
		ginkgo.AfterEach(func(ctx ginkgo.SpecContext) {
			if ginkgo.CurrentSpecReport().Failed() && !p.connected().Interrupted() {
				p.failed[s.Number] = true
				gathering, done := p.connected().WithInterrupt(ctx)
				defer done()
				evidence.Gather(gathering, p.connected(), s.folder(), ginkgo.CurrentSpecReport().Failure.Message)
			}
		})
		specs(func() *Learner { return p.learner(s) })
	})
}

func (p *progress) learner(s Step) *Learner {
	return &Learner{cluster: p.connected(), failureReport: s.FailureReport, folder: "steps", judge: mismatchesOf(s.Judge),
		evidence: filepath.Join(p.connected().Settings.EvidenceDir(), s.folder())}
}

func (s Step) folder() string { return fmt.Sprintf("step%d-%s", s.Number, s.Name) }

// passes waits until the judgement holds and, if it is of something that must
// not happen, watches that it goes on holding. It gives up where one of jobSets
// has come to a dead end. The snapshot that it passed on is kept, as a recording.
func (me *Learner) passes(ctx context.Context, jobSets []string, judge condition, lasting bool) {
	ginkgo.GinkgoHelper()
	end := poll(ctx, me.cluster, jobSets, judge)
	if end.met && lasting {
		end = staysMet(ctx, me.cluster, judge)
	}
	if !end.met {
		me.fail(report.NotPassed, end)
	}
	recording, err := end.last.Recording()
	if err == nil {
		err = report.SaveSnapshot(me.cluster.Settings, filepath.Base(me.evidence), recording)
	}
	if err != nil {
		me.stop(err.Error())
	}
	if me.attempt == nil {
		me.seen(me.failureReport(report.Failure{}, end.last)).Report()
	}
	// What a recording leaves out must be what no judgement asks for.
	if refusals := judge(recording); len(refusals) > 0 {
		me.fail("is passed, and its recording is not, so trim.go takes too much", outcome{last: recording, mismatches: refusals})
	}
}

// mismatchesOf makes a condition of a step's or a mistake's Judge.
func mismatchesOf(judge func(*snapshot.Snapshot) *matchers.Check) condition {
	return func(s *snapshot.Snapshot) []*matchers.Mismatch { return judge(s).Mismatches }
}

// define makes the one spec of a mistake.
func (m Mistake) define(made *lanes) {
	it("mistake "+m.Name+": "+m.Symptom, made.connected, func(context.Context) {
		end := made.of(m)
		for _, action := range end.actions {
			ginkgo.By(action)
		}
		report.Took(end.took)
		interrupts.AbortIfInterrupted(made.connected(), "while the mistakes were made.")
		if end.cleanup == nil && made.allEnded() {
			// The steps make JobSets of the same names.
			end.cleanup = made.connected().ResetHistory()
		}
		if end.failed != nil {
			end.failed()
		}
		if end.cleanup != nil {
			ginkgo.Fail(text.Visible(end.cleanup.Error()))
		}
	}, ginkgo.Label(m.label()))
}

// make makes the mistake, and waits for what the cluster then does.
func (m Mistake) make(ctx context.Context, me *Learner) {
	if m.Integration != "" && !me.queues(ctx, m.Integration) {
		me.reported = true
		me.failWith(report.NotHere, report.Because(report.IntegrationOff, fmt.Sprintf("Kueue's integration %s is off in this lab.", m.Integration)), outcome{})
	}
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
}

// it makes a spec that ends when the run is interrupted.
func it(text string, connected func() *cluster.Cluster, body func(ctx context.Context), decorators ...any) {
	ginkgo.It(text, append(decorators, func(spec ginkgo.SpecContext) {
		interrupts.AbortIfInterrupted(connected(), "before this was begun.")
		ctx, cancel := connected().WithInterrupt(spec)
		defer cancel()
		body(ctx)
	})...)
}

func (m Mistake) folder() string { return "mistake-" + m.Name }

func (m Mistake) label() string { return report.MistakeLabel + m.Name }

func holds(steps []Step, number int) bool {
	for _, step := range steps {
		if step.Number == number {
			return true
		}
	}
	return false
}
