package lab

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/evidence"
	"gsb.test/jobset-e2e/e2e/internal/interrupts"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
)

// lanes make mistakes side by side. Two that write a JobSet of the same name, or
// that want GPUs, are made one after the other, in the order of the course: they are
// one lane. A lane sees nothing of another's JobSets, and has a history of its own, so
// each mistake is judged as if it were made alone. What a mistake did is reported by
// its own spec, which waits for it.
type lanes struct {
	mistakes  []Mistake
	connected func() *cluster.Cluster

	begun   map[string]*attempt // by the mistake's name
	stop    context.CancelFunc
	running sync.WaitGroup
}

// An attempt is a mistake that is made beside others: what its spec would have
// reported if the mistake had been made there.
type attempt struct {
	ended   chan struct{}
	actions []string
	took    time.Duration
	failed  func() // fails the spec as the learner failed; nil if it did not
	cleanup error
}

// of returns the attempt at a mistake once it has ended.
func (l *lanes) of(m Mistake) *attempt {
	if l.begun == nil {
		l.begun = map[string]*attempt{}
	}
	if l.begun[m.Name] == nil {
		l.begin(l.willRun(m))
	}
	end := l.begun[m.Name]
	<-end.ended
	return end
}

// allEnded reports whether no mistake is being made any more.
func (l *lanes) allEnded() bool {
	for _, attempt := range l.begun {
		select {
		case <-attempt.ended:
		default:
			return false
		}
	}
	return true
}

// willRun returns the mistakes whose specs this run asks for besides that of m. Which
// ones a focus or a skip leaves is Ginkgo's own secret, so m is then made alone.
func (l *lanes) willRun(m Mistake) []Mistake {
	config, _ := ginkgo.GinkgoConfiguration()
	if len(config.FocusStrings)+len(config.SkipStrings)+len(config.FocusFiles)+len(config.SkipFiles) > 0 {
		return []Mistake{m}
	}
	asked, err := types.ParseLabelFilter(config.LabelFilter)
	if err != nil {
		return []Mistake{m}
	}
	return slices.DeleteFunc(slices.Clone(l.mistakes), func(other Mistake) bool { return !asked([]string{other.label()}) })
}

// begin makes the mistakes, each lane in a goroutine.
func (l *lanes) begin(mistakes []Mistake) {
	ctx, stop := l.connected().WithInterrupt(context.Background())
	l.stop = stop
	for _, m := range mistakes {
		l.begun[m.Name] = &attempt{ended: make(chan struct{})}
	}
	for _, lane := range apart(mistakes, func(m Mistake) bool { return m.wantsGPUs(l.connected()) }) {
		l.running.Go(func() { l.run(ctx, lane) })
	}
}

// apart sorts mistakes into lanes.
func apart(mistakes []Mistake, wantsGPUs func(Mistake) bool) [][]Mistake {
	var gpus []string // JobSets of the lane that wants GPUs
	for _, m := range mistakes {
		if wantsGPUs(m) {
			gpus = append(gpus, m.JobSet)
		}
	}
	var names []string
	lanes := map[string][]Mistake{}
	for _, m := range mistakes {
		name := m.JobSet
		if slices.Contains(gpus, name) {
			name = "GPUs"
		}
		if lanes[name] == nil {
			names = append(names, name)
		}
		lanes[name] = append(lanes[name], m)
	}
	var sorted [][]Mistake
	for _, name := range names {
		sorted = append(sorted, lanes[name])
	}
	return sorted
}

// wantsGPUs reports whether the mistake's manifest names the GPUs' resource.
func (m Mistake) wantsGPUs(target *cluster.Cluster) bool {
	content, err := target.Fixture("mistakes/" + m.Name + ".yaml")
	return err == nil && bytes.Contains(content, []byte(target.Pins.GPUResource))
}

// run makes the mistakes of one lane, one after the other.
func (l *lanes) run(ctx context.Context, lane []Mistake) {
	others := slices.Clone(l.connected().Settings.JobSets)
	for _, m := range lane {
		others = slices.DeleteFunc(others, func(name string) bool { return name == m.JobSet })
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	target := l.connected().Beside(others)
	err := target.Watch(watching)
	for i, m := range lane {
		end := l.begun[m.Name]
		if err == nil && i > 0 {
			// The JobSet of the mistake before had the same name.
			err = target.ResetHistory()
		}
		if err == nil && ctx.Err() == nil {
			end.make(ctx, target, m)
			err = end.cleanup
		} else {
			end.cleanup = errors.Join(err, ctx.Err())
		}
		close(end.ended)
	}
}

// make makes the mistake, gathers the evidence if the cluster does something else than
// it should, and takes the JobSet away.
func (a *attempt) make(ctx context.Context, target *cluster.Cluster, m Mistake) {
	began := time.Now()
	me := &Learner{cluster: target, failureReport: m.failureReport, folder: "mistakes", reported: !m.InText, judge: mismatchesOf(m.Judge), attempt: a,
		evidence: filepath.Join(target.Settings.EvidenceDir(), m.folder())}
	message := a.record(func() { m.make(ctx, me) })
	if message != "" && !target.Interrupted() {
		evidence.Gather(ctx, target, m.folder(), message)
	}
	ending, ended := interrupts.CleanupContext(target, context.WithoutCancel(ctx))
	defer ended()
	a.cleanup = ownership.RemoveApplied(ending, target, m.JobSet)
	a.took = time.Since(began)
}

// A stopped learner has failed: nothing that follows is done.
type stopped struct{ message string }

// record does what a spec would do, and returns the message that it fails with; empty
// if it passes.
func (a *attempt) record(body func()) (message string) {
	defer func() {
		if cause := recover(); cause != nil {
			learner, ok := cause.(stopped)
			if !ok {
				a.failed = func() { panic(cause) } // in the spec, where Ginkgo catches it
				return
			}
			message = learner.message
		}
	}()
	body()
	return ""
}

// wait ends what still runs, and waits for the end of it. Where every spec was run,
// nothing does.
func (l *lanes) wait() {
	if l.stop != nil {
		l.stop()
	}
	l.running.Wait()
}
