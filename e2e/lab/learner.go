package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A Learner does what the lab text tells a learner to do. Each deed fails the
// running spec itself, with the story of what was there.
type Learner struct {
	world *World
	// story is what a failure's story begins with: which step or mistake this
	// is, and what it is about.
	story  func(failure Failure, snapshot *Snapshot) Story
	folder string // the fixtures that its manifests are in
	// evidence is where the rest of a failure's story lies.
	evidence string
}

// Save writes a manifest of the fixtures into the work directory.
func (me *Learner) Save(manifest string) {
	ginkgo.GinkgoHelper()
	content := me.manifest(manifest)
	if err := me.world.writeFile(manifest, content); err != nil {
		me.fail(notDone, outcome{refusals: []*Refusal{because(WorkDirUnwritable, err.Error())}})
	}
}

// Apply applies a manifest of the fixtures, as kubectl apply -f does.
func (me *Learner) Apply(ctx context.Context, manifest string) {
	ginkgo.GinkgoHelper()
	err := me.apply(ctx, manifest, me.manifest(manifest))
	switch {
	case err == nil:
	case lostOnTheWay(err):
		me.refused(notDone, because(ApplyFailed, fmt.Sprintf("kubectl apply -f %s did not reach its end: %v", manifest, err)), me.world.glance(ctx))
	default:
		me.refused(notDone, because(ApplyRefused, fmt.Sprintf("kubectl apply -f %s was refused by the cluster: %v", manifest, err)), me.world.glance(ctx))
	}
}

// apply returns the API server's refusal.
func (me *Learner) apply(ctx context.Context, name string, content []byte) error {
	ginkgo.GinkgoHelper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		me.refused(notDone, because(FixtureUnreadable, fmt.Sprintf("the fixture %s is not YAML: %v", name, err)), outcome{})
	}
	return me.world.persist(ctx, func(within context.Context) error {
		// An interrupt does not cut a request off: the API server might make the JobSet
		// all the same, after the cleanup has looked what there is.
		uncut, cancel := brief(context.WithoutCancel(within))
		defer cancel()
		return me.world.applyMarked(uncut, object.DeepCopy())
	})
}

// WaitUntil waits until every matcher holds of the JobSet.
func (me *Learner) WaitUntil(ctx context.Context, jobSet string, matchers ...Matcher[JobSet]) {
	ginkgo.GinkgoHelper()
	end := me.world.await(ctx, []string{jobSet}, func(s *Snapshot) []*Refusal {
		c := &Check{}
		for _, matcher := range matchers {
			Expect(c, s.JobSet(jobSet), matcher)
		}
		return c.Refusals
	})
	if !end.held {
		me.fail(notDone, end)
	}
}

// Exec runs a command in the pod of a role and a completion index, as kubectl
// exec does, and returns what it printed. A command that exits with another
// status than 0 fails the spec. Where the connection breaks it is run again in the
// same pod, so it must be one that may run twice.
func (me *Learner) Exec(ctx context.Context, jobSet, role string, index int, command ...string) string {
	ginkgo.GinkgoHelper()
	out, end := me.exec(ctx, jobSet, role, index, command)
	if !end.held {
		me.fail(notDone, end)
	}
	return out
}

// Ask runs a command like Exec, again and again until what it prints stands the
// judgement, and returns that. The exit status is not judged: busybox's nslookup
// exits 1 where one of two questions has no answer.
func (me *Learner) Ask(ctx context.Context, jobSet, role string, index int, stands func(*Snapshot) Matcher[File], command ...string) string {
	ginkgo.GinkgoHelper()
	var out string
	end := me.world.await(ctx, []string{jobSet}, func(s *Snapshot) []*Refusal {
		pod := s.JobSet(jobSet).PodAt(role, index)
		if r := pod.absent(); r != nil {
			return []*Refusal{r}
		}
		within, cancel := brief(ctx)
		defer cancel()
		var err error
		out, err = me.world.exec(within, pod.live, command...)
		if unanswered(out, err) {
			s.Unanswered = fmt.Sprintf("no DNS server answers pod %s: what it asks, or the answer, is dropped on the way, "+
				"or kube-dns has no ready endpoint", pod.live.Name)
		} else if err != nil && !ranAndFailed(err) {
			return []*Refusal{because(CommandFailed, err.Error())}
		}
		answer := File{Name: "what it printed", Text: plain(out), Written: true}
		c := &Check{}
		Expect(c, answer, stands(s))
		return c.Refusals
	})
	if !end.held {
		me.fail(notDone, end)
	}
	return out
}

func (me *Learner) exec(ctx context.Context, jobSet, role string, index int, command []string) (string, outcome) {
	end := me.world.see(ctx)
	if end.last == nil {
		return "", end
	}
	pod := end.last.JobSet(jobSet).PodAt(role, index)
	if r := pod.absent(); r != nil {
		end.refusals = []*Refusal{r}
		return "", end
	}
	var out string
	err := me.world.persist(ctx, func(within context.Context) (err error) {
		out, err = me.world.exec(within, pod.live, command...)
		return err
	})
	if err != nil {
		end.refusals = []*Refusal{because(CommandFailed, err.Error())}
		return out, end
	}
	end.held = true
	return out, end
}

// Look reads the lab as kubectl get does.
func (me *Learner) Look(ctx context.Context) *Snapshot {
	ginkgo.GinkgoHelper()
	end := me.world.see(ctx)
	if end.last == nil {
		me.fail(notDone, end)
	}
	return end.last
}

// Restarts reads the RESTARTS column of one JobSet.
func (me *Learner) Restarts(ctx context.Context, jobSet string) int {
	ginkgo.GinkgoHelper()
	return me.Look(ctx).JobSet(jobSet).Restarts()
}

// Write writes a file into the work directory.
func (me *Learner) Write(name, format string, values ...any) {
	ginkgo.GinkgoHelper()
	var content bytes.Buffer
	fmt.Fprintf(&content, format, values...)
	if err := me.world.writeFile(name, content.Bytes()); err != nil {
		me.fail(notDone, outcome{refusals: []*Refusal{because(WorkDirUnwritable, err.Error())}})
	}
}

// WriteJSON writes a file of JSON into the work directory.
func (me *Learner) WriteJSON(name string, value any) {
	ginkgo.GinkgoHelper()
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		me.refused(notDone, because(FixtureUnreadable, fmt.Sprintf("%s cannot be written as JSON: %v", name, err)), outcome{})
	}
	me.Write(name, "%s\n", content)
}

func (me *Learner) manifest(name string) []byte {
	ginkgo.GinkgoHelper()
	return me.fixture(me.folder + "/" + name)
}

func (me *Learner) fixture(path string) []byte {
	ginkgo.GinkgoHelper()
	content, err := me.world.fixture(path)
	if err != nil {
		me.fail(notDone, outcome{refusals: []*Refusal{because(WorkDirUnwritable, err.Error())}})
	}
	return content
}

// refused fails the spec for one reason, whatever the snapshot of end was taken for.
func (me *Learner) refused(stage string, why *Refusal, end outcome) {
	ginkgo.GinkgoHelper()
	end.refusals = []*Refusal{why}
	me.fail(stage, end)
}

// fail reports the failure as data and as text, and fails the spec.
func (me *Learner) fail(stage string, end outcome) {
	ginkgo.GinkgoHelper()
	failure := newFailure(stage, end)
	me.world.EndIfInterrupted(strings.TrimSuffix("while waiting: "+firstLine(failure.EN), ".") + ".")
	failure.report()
	story := me.story(failure, end.last)
	story.Evidence = me.evidence
	ginkgo.Fail(story.String())
}

// glance takes one snapshot for an outcome that is not (yet) a success.
func (w *World) glance(ctx context.Context) outcome {
	snapshot, err := w.Look(ctx)
	if err != nil {
		return outcome{refusals: []*Refusal{because(LabUnreadable, "The lab could not be looked at: "+err.Error())}}
	}
	return outcome{last: snapshot}
}

// see is glance for a deed that cannot go on without it.
func (w *World) see(ctx context.Context) (end outcome) {
	err := w.persist(ctx, func(ctx context.Context) (err error) {
		end.last, err = w.Look(ctx)
		return err
	})
	if err != nil {
		end = outcome{refusals: []*Refusal{because(LabUnreadable, "The lab could not be looked at: "+err.Error())}}
	}
	return end
}
