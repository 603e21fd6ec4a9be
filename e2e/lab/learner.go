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

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Learner does what the lab text tells a learner to do. Each method is one thing
// that a learner does: it shows in the report of the spec (Ginkgo's By), and fails the
// spec itself if it cannot be done.
type Learner struct {
	cluster *cluster.Cluster
	// failureReport begins the report of a failure: which step or mistake this is,
	// and what it is about.
	failureReport func(failure report.Failure, snapshot *snapshot.Snapshot) report.FailureReport
	folder        string // the fixtures that its manifests are in
	// judge is the check of what it does, for the page of the run.
	judge condition
	// evidence is the folder where the rest of a failure's report lies.
	evidence string
	// reported says that what does not hold is reported and fails nothing.
	reported bool
	// attempt notes what is done outside of a spec; nil in one.
	attempt *attempt
}

// Save writes a manifest of the fixtures into the work directory.
func (me *Learner) Save(manifest string) {
	ginkgo.GinkgoHelper()
	me.by("save " + manifest)
	content := me.manifest(manifest)
	if err := ownership.WriteFile(me.cluster, manifest, content); err != nil {
		me.fail(report.NotDone, outcome{mismatches: []*matchers.Mismatch{report.Because(report.WorkDirUnwritable, err.Error())}})
	}
}

// Apply applies a manifest of the fixtures, as kubectl apply -f does.
func (me *Learner) Apply(ctx context.Context, manifest string) {
	ginkgo.GinkgoHelper()
	me.by("kubectl apply -f " + manifest)
	err := me.apply(ctx, manifest, me.manifest(manifest))
	switch {
	case err == nil:
	case cluster.LostOnTheWay(err):
		me.failWith(report.NotDone, report.Because(report.ApplyFailed, fmt.Sprintf("kubectl apply -f %s did not reach its end: %v", manifest, err)), readOnce(ctx, me.cluster))
	default:
		me.failWith(report.NotDone, report.Because(report.ApplyRefused, fmt.Sprintf("kubectl apply -f %s was refused by the cluster: %v", manifest, err)), readOnce(ctx, me.cluster))
	}
}

// apply returns the API server's refusal.
func (me *Learner) apply(ctx context.Context, name string, content []byte) error {
	ginkgo.GinkgoHelper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		me.failWith(report.NotDone, report.Because(report.FixtureUnreadable, fmt.Sprintf("the fixture %s is not YAML: %v", name, err)), outcome{})
	}
	return me.cluster.Persist(ctx, func(within context.Context) error {
		// An interrupt does not cut a request off: the API server might make the JobSet
		// all the same, after the cleanup has looked what there is.
		uncut, cancel := cluster.Brief(context.WithoutCancel(within))
		defer cancel()
		return ownership.ApplyMarked(uncut, me.cluster, object.DeepCopy())
	})
}

// WaitUntil waits until every matcher holds of the JobSet.
func (me *Learner) WaitUntil(ctx context.Context, jobSet string, ms ...matchers.Matcher[snapshot.JobSet]) {
	ginkgo.GinkgoHelper()
	me.by("wait for JobSet " + jobSet)
	end := poll(ctx, me.cluster, []string{jobSet}, func(s *snapshot.Snapshot) []*matchers.Mismatch {
		c := &matchers.Check{}
		for _, matcher := range ms {
			matchers.Expect(c, s.JobSet(jobSet), matcher)
		}
		return c.Mismatches
	})
	if !end.met {
		me.fail(report.NotDone, end)
	}
}

// Exec runs a command in the pod of a role and a completion index, as kubectl
// exec does, and returns what it printed. A command that exits with another
// status than 0 fails the spec. Where the connection breaks it is run again in the
// same pod, so it must be one that may run twice.
func (me *Learner) Exec(ctx context.Context, jobSet, role string, index int, command ...string) string {
	ginkgo.GinkgoHelper()
	me.by(fmt.Sprintf("kubectl exec into %s-%s, completion index %d: %s", jobSet, role, index, strings.Join(command, " ")))
	out, end := me.exec(ctx, jobSet, role, index, command)
	if !end.met {
		me.fail(report.NotDone, end)
	}
	return out
}

// Ask runs a command like Exec, again and again until what it prints stands the
// judgement, and returns that. The exit status is not judged: busybox's nslookup
// exits 1 where one of two questions has no answer.
func (me *Learner) Ask(ctx context.Context, jobSet, role string, index int, stands func(*snapshot.Snapshot) matchers.Matcher[snapshot.File], command ...string) string {
	ginkgo.GinkgoHelper()
	me.by(fmt.Sprintf("kubectl exec into %s-%s, completion index %d, until it answers: %s", jobSet, role, index, strings.Join(command, " ")))
	var out string
	end := poll(ctx, me.cluster, []string{jobSet}, func(s *snapshot.Snapshot) []*matchers.Mismatch {
		pod := s.JobSet(jobSet).PodAt(role, index)
		if r := matchers.MissingPod(pod); r != nil {
			return []*matchers.Mismatch{r}
		}
		within, cancel := cluster.Brief(ctx)
		defer cancel()
		var err error
		out, err = me.cluster.Exec(within, pod.Live, command...)
		if blockers.Unanswered(out, err) {
			s.Unanswered = fmt.Sprintf("no DNS server answers pod %s: what it asks, or the answer, is dropped on the way, "+
				"or kube-dns has no ready endpoint", pod.Live.Name)
		} else if err != nil && !cluster.RanAndFailed(err) {
			if cluster.Denied(err) {
				s.ExecRefused = "no command is let into pod " + pod.Live.Name + ": " + err.Error()
			}
			return []*matchers.Mismatch{report.Because(report.CommandFailed, err.Error())}
		}
		asked := command[len(command)-1]
		if found := snapshot.LookupIn(out, asked); found.Complaint != "" && len(found.Addresses) == 0 && s.Unanswered == "" {
			s.NameUnknown = fmt.Sprintf("the DNS server answers pod %s that there is no name %s: it does not know the Services of this cluster (its Corefile, its rights), "+
				"or nobody makes their EndpointSlices (kube-controller-manager)", pod.Live.Name, asked)
		}
		answer := snapshot.File{Name: "what it printed", Text: snapshot.Plain(out), Written: true}
		c := &matchers.Check{}
		matchers.Expect(c, answer, stands(s))
		return c.Mismatches
	})
	if !end.met {
		me.fail(report.NotDone, end)
	}
	return out
}

func (me *Learner) exec(ctx context.Context, jobSet, role string, index int, command []string) (string, outcome) {
	end := see(ctx, me.cluster)
	if end.last == nil {
		return "", end
	}
	pod := end.last.JobSet(jobSet).PodAt(role, index)
	if r := matchers.MissingPod(pod); r != nil {
		end.mismatches = []*matchers.Mismatch{r}
		return "", end
	}
	var out string
	err := me.cluster.Persist(ctx, func(within context.Context) (err error) {
		out, err = me.cluster.Exec(within, pod.Live, command...)
		return err
	})
	if err != nil {
		end.mismatches = []*matchers.Mismatch{report.Because(report.CommandFailed, err.Error())}
		return out, end
	}
	end.met = true
	return out, end
}

// Look reads the lab as kubectl get does.
func (me *Learner) Look(ctx context.Context) *snapshot.Snapshot {
	ginkgo.GinkgoHelper()
	me.by("kubectl get")
	end := see(ctx, me.cluster)
	if end.last == nil {
		me.fail(report.NotDone, end)
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
	me.by("write " + name)
	var content bytes.Buffer
	fmt.Fprintf(&content, format, values...)
	if err := ownership.WriteFile(me.cluster, name, content.Bytes()); err != nil {
		me.fail(report.NotDone, outcome{mismatches: []*matchers.Mismatch{report.Because(report.WorkDirUnwritable, err.Error())}})
	}
}

// WriteJSON writes a file of JSON into the work directory.
func (me *Learner) WriteJSON(name string, value any) {
	ginkgo.GinkgoHelper()
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		me.failWith(report.NotDone, report.Because(report.FixtureUnreadable, fmt.Sprintf("%s cannot be written as JSON: %v", name, err)), outcome{})
	}
	me.Write(name, "%s\n", content)
}

func (me *Learner) manifest(name string) []byte {
	ginkgo.GinkgoHelper()
	return me.fixture(me.folder + "/" + name)
}

func (me *Learner) fixture(path string) []byte {
	ginkgo.GinkgoHelper()
	content, err := me.cluster.Fixture(path)
	if err != nil {
		me.fail(report.NotDone, outcome{mismatches: []*matchers.Mismatch{report.Because(report.WorkDirUnwritable, err.Error())}})
	}
	return content
}
