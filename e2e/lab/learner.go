package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// fieldManager marks in managedFields what this suite applied, so that a later
// run knows its own leavings from a learner's work.
const fieldManager = "gsb-jobset-e2e"

// A Learner does what the lab text tells a learner to do. Each deed fails the
// running spec itself, with the story of what was there.
type Learner struct {
	world *World
	// story is what a failure's story begins with: which step or mistake this
	// is, and what it is about.
	story  func(verdict string, snapshot *Snapshot) Story
	folder string // the fixtures that its manifests are in
	// evidence is where the rest of a failure's story lies.
	evidence string
}

// Save writes a manifest of the fixtures into the work directory.
func (me *Learner) Save(manifest string) {
	ginkgo.GinkgoHelper()
	content := me.manifest(manifest)
	if err := me.world.writeFile(manifest, content); err != nil {
		me.fail(notDone+err.Error(), outcome{})
	}
}

// Apply applies a manifest of the fixtures, as kubectl apply -f does.
func (me *Learner) Apply(ctx context.Context, manifest string) {
	ginkgo.GinkgoHelper()
	if err := me.apply(ctx, manifest, me.manifest(manifest)); err != nil {
		me.fail(notDone+fmt.Sprintf("kubectl apply -f %s was refused by the cluster: %v", manifest, err), me.world.glance(ctx))
	}
}

// apply returns the API server's refusal.
func (me *Learner) apply(ctx context.Context, name string, content []byte) error {
	ginkgo.GinkgoHelper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		me.fail(notDone+fmt.Sprintf("the fixture %s is not YAML: %v", name, err), outcome{})
	}
	// An interrupt does not cut it off: the API server might make the JobSet all the
	// same, after the cleanup has looked what there is.
	within, cancel := brief(context.WithoutCancel(ctx))
	defer cancel()
	return me.world.client.Apply(within, client.ApplyConfigurationFromUnstructured(&object),
		client.FieldOwner(fieldManager), client.ForceOwnership)
}

// WaitUntil waits until every judgement of the JobSet holds.
func (me *Learner) WaitUntil(ctx context.Context, jobSet string, judgements ...types.GomegaMatcher) {
	ginkgo.GinkgoHelper()
	end := me.world.await(ctx, []string{jobSet}, func(s *Snapshot) string {
		return firstRefusal(s.JobSet(jobSet), judgements)
	})
	if !end.held {
		me.fail(notDone+end.refusal, end)
	}
}

// Exec runs a command in the pod of a role and a completion index, as kubectl
// exec does, and returns what it printed. A command that exits with another
// status than 0 fails the spec.
func (me *Learner) Exec(ctx context.Context, jobSet, role string, index int, command ...string) string {
	ginkgo.GinkgoHelper()
	out, end := me.exec(ctx, jobSet, role, index, command)
	if !end.held {
		me.fail(notDone+end.refusal, end)
	}
	return out
}

// Ask runs a command like Exec, again and again until what it prints stands the
// judgement, and returns that. The exit status is not judged: busybox's nslookup
// exits 1 where one of two questions has no answer.
func (me *Learner) Ask(ctx context.Context, jobSet, role string, index int, stands func(*Snapshot) types.GomegaMatcher, command ...string) string {
	ginkgo.GinkgoHelper()
	var out string
	end := me.world.await(ctx, []string{jobSet}, func(s *Snapshot) string {
		pod := s.JobSet(jobSet).PodAt(role, index)
		if r := pod.absent(); r != nil {
			return r.String()
		}
		within, cancel := brief(ctx)
		defer cancel()
		var err error
		out, err = me.world.exec(within, pod.live, command...)
		if unanswered(out, err) {
			s.Unanswered = fmt.Sprintf("no DNS server answers pod %s: what it asks, or the answer, is dropped on the way, "+
				"or kube-dns has no ready endpoint", pod.live.Name)
		} else if err != nil && !ranAndFailed(err) {
			return err.Error()
		}
		answer := File{Name: "what it printed", Text: plain(out), Written: true}
		return firstRefusal(answer, []types.GomegaMatcher{stands(s)})
	})
	if !end.held {
		me.fail(notDone+end.refusal, end)
	}
	return out
}

func (me *Learner) exec(ctx context.Context, jobSet, role string, index int, command []string) (string, outcome) {
	end := me.world.glance(ctx)
	if end.last == nil {
		return "", end
	}
	pod := end.last.JobSet(jobSet).PodAt(role, index)
	if r := pod.absent(); r != nil {
		end.refusal = r.String()
		return "", end
	}
	within, cancel := brief(ctx)
	defer cancel()
	out, err := me.world.exec(within, pod.live, command...)
	if err != nil {
		end.refusal = err.Error()
		return out, end
	}
	end.held = true
	return out, end
}

// Look reads the lab as kubectl get does.
func (me *Learner) Look(ctx context.Context) *Snapshot {
	ginkgo.GinkgoHelper()
	end := me.world.glance(ctx)
	if end.last == nil {
		me.fail(notDone+end.refusal, end)
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
		me.fail(notDone+err.Error(), outcome{})
	}
}

func (me *Learner) manifest(name string) []byte {
	ginkgo.GinkgoHelper()
	return me.fixture(me.folder + "/" + name)
}

func (me *Learner) fixture(path string) []byte {
	ginkgo.GinkgoHelper()
	content, err := me.world.fixture(path)
	if err != nil {
		me.fail(notDone+err.Error(), outcome{})
	}
	return content
}

// How the verdict on a step begins whose Check refuses, and on one whose deed
// cannot be done.
const (
	notPassed = "is not passed: "
	notDone   = "cannot be done: "
)

// bare is a verdict without such a beginning.
func bare(verdict string) string {
	return strings.TrimPrefix(strings.TrimPrefix(verdict, notPassed), notDone)
}

// fail tells the story of a deed or a judgement that failed, and fails the spec.
func (me *Learner) fail(verdict string, end outcome) {
	ginkgo.GinkgoHelper()
	me.world.EndIfInterrupted(strings.TrimSuffix("while waiting: "+bare(firstLine(verdict)), ": ") + ".")
	story := me.story(verdict, end.last)
	story.Waited, story.DeadEnd, story.Evidence = end.waited, end.deadEnd, me.evidence
	ginkgo.Fail(story.String())
}

// glance takes one snapshot for an outcome that is not (yet) a success.
func (w *World) glance(ctx context.Context) outcome {
	snapshot, err := w.Look(ctx)
	if err != nil {
		return outcome{refusal: "The lab could not be looked at: " + err.Error()}
	}
	return outcome{last: snapshot}
}

// writeFile writes into the work directory and notes that the file is ours.
func (w *World) writeFile(name string, content []byte) error {
	path := filepath.Join(w.Settings.WorkDir, name)
	if err := w.ledger().note(path, content); err != nil {
		return err
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("writing into the work directory: %w", err)
	}
	return nil
}

// firstRefusal returns why the first judgement that does not hold does not.
func firstRefusal(actual any, judgements []types.GomegaMatcher) string {
	for _, matcher := range judgements {
		holds, err := matcher.Match(actual)
		if err != nil {
			return err.Error()
		}
		if !holds {
			return matcher.FailureMessage(actual)
		}
	}
	return ""
}
