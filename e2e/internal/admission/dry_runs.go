package admission

import (
	"context"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/fixtures"
)

// A Part is a JobSet of the steps, or an object that the controllers make of it, as a dry
// run of it was answered.
type Part struct {
	Kind   string
	JobSet string // the fixture that it is a part of
	Err    error
	// Asked and Pod are a pod as it was asked for and as it came back.
	Asked, Pod *corev1.Pod
	// Rewritten is what of it came back otherwise than it was asked for.
	Rewritten []string
}

// TryJobSet asks for a JobSet of the fixtures without making one: it goes through the
// webhooks of JobSet and of Kueue as a real one does. It returns the JobSet that would
// be made, and what of it is otherwise than the fixture asks for.
func TryJobSet(ctx context.Context, w *cluster.Cluster, fixture string) (back *jobsetv1.JobSet, rewritten []string, err error) {
	content, err := w.Fixture(fixture)
	if err != nil {
		return nil, nil, err
	}
	asked := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &asked.Object); err != nil {
		return nil, nil, err
	}
	asked.SetName("")
	asked.SetGenerateName("preflight-")
	answer := asked.DeepCopy()
	if err := TryCreate(ctx, w, answer); err != nil {
		return nil, nil, err
	}
	back = &jobsetv1.JobSet{}
	return back, Rewritten(asked.Object, answer.Object), runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, back)
}

// TryCreate is a dry run: the object is what it would have become.
func TryCreate(ctx context.Context, w *cluster.Cluster, object client.Object) error {
	ctx, cancel := cluster.Brief(ctx)
	defer cancel()
	return w.API.Create(ctx, object, client.DryRunAll)
}

// Tried are the dry runs of the JobSets of the steps and of what the controllers make of them.
type Tried struct {
	Parts []Part
	// Unqueued is what hello comes back as, and Queued what train does; nil if not answered.
	Unqueued, Queued *jobsetv1.JobSet
	// Err is why a JobSet got neither a yes nor a no.
	Err error
}

// Try makes a dry run of every JobSet of the steps and of its parts. Once one is not answered,
// the others are not tried: each would take as long.
func Try(ctx context.Context, w *cluster.Cluster) Tried {
	var tried Tried
	for _, name := range JobSetsOfSteps() {
		back, rewritten, err := TryJobSet(ctx, w, "steps/"+name+".yaml")
		if unanswered(err) {
			tried.Err = err
			return tried
		}
		switch name {
		case "hello":
			tried.Unqueued = back
		case "train":
			tried.Queued = back
		}
		tried.Parts = append(tried.Parts, Part{Kind: "JobSet", JobSet: name, Err: err, Rewritten: rewritten})
		tried.Parts = append(tried.Parts, tryParts(ctx, w, back, name)...)
		if unanswered(tried.Parts[len(tried.Parts)-1].Err) {
			return tried
		}
	}
	return tried
}

// unanswered reports whether a dry run got neither a yes nor a no.
func unanswered(err error) bool { return err != nil && !Refused(err) && !NotOurRight(err) }

// JobSetsOfSteps are the names of the JobSets that the steps make, as their files have them.
func JobSetsOfSteps() []string {
	var names []string
	for _, path := range fixtures.Names() {
		if name, ok := strings.CutPrefix(path, "steps/"); ok {
			names = append(names, strings.TrimSuffix(name, ".yaml"))
		}
	}
	return names
}

// Refused reports whether the API server took a question and said no to it.
func Refused(err error) bool {
	return apierrors.IsForbidden(err) && !NotOurRight(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// tryParts asks for the parts of a JobSet without making one: what the JobSet's own
// dry run does not show is whether its Jobs, pods and Service are taken, and unchanged.
func tryParts(ctx context.Context, w *cluster.Cluster, jobSet *jobsetv1.JobSet, fixture string) []Part {
	if jobSet == nil {
		return nil
	}
	called := func(labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{GenerateName: "preflight-", Namespace: w.Pins.Namespace, Labels: labels}
	}
	var parts []Part
	try := func(part Part, object client.Object) {
		if len(parts) == 0 || !unanswered(parts[len(parts)-1].Err) {
			part.JobSet, part.Err = fixture, TryCreate(ctx, w, object)
			parts = append(parts, part)
		}
	}
	for _, role := range jobSet.Spec.ReplicatedJobs {
		// The labels by which JobSet and its Service find the pods.
		labels := maps.Clone(role.Template.Spec.Template.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		labels[jobsetv1.JobSetNameKey], labels[jobsetv1.ReplicatedJobNameKey], labels[jobsetv1.JobIndexKey] = "preflight", role.Name, "0"
		pod := &corev1.Pod{ObjectMeta: called(labels), Spec: *role.Template.Spec.Template.Spec.DeepCopy()}
		if pod.Spec.RestartPolicy == "" {
			pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure // JobSet's own default
		}
		back := pod.DeepCopy()
		try(Part{Kind: "Pod", Asked: pod, Pod: back}, back)
		if last := &parts[len(parts)-1]; last.Pod == back && last.Err == nil {
			last.Rewritten = podRewritten(pod, back)
		}
		job := &batchv1.Job{ObjectMeta: called(role.Template.Labels), Spec: *role.Template.Spec.DeepCopy()}
		job.Spec.Template.Spec.RestartPolicy = pod.Spec.RestartPolicy
		try(Part{Kind: "Job"}, job)
		if jobSet.Labels[constants.QueueLabel] != "" && len(parts) == 2 {
			try(Part{Kind: "Workload"}, &kueuev1.Workload{ObjectMeta: called(nil), Spec: kueuev1.WorkloadSpec{QueueName: kueuev1.LocalQueueName(w.Pins.LocalQueue),
				PodSets: []kueuev1.PodSet{{Name: "main", Count: 1, Template: corev1.PodTemplateSpec{Spec: *pod.Spec.DeepCopy()}}}}})
		}
	}
	try(Part{Kind: "Service"}, &corev1.Service{ObjectMeta: called(nil), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{jobsetv1.JobSetNameKey: "preflight"}}})
	return parts
}

// podRewritten is what of a pod came back otherwise; an error of converting it shows elsewhere.
func podRewritten(asked, back *corev1.Pod) []string {
	was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(asked)
	if err != nil {
		return nil
	}
	is, err := runtime.DefaultUnstructuredConverter.ToUnstructured(back)
	if err != nil {
		return nil
	}
	return Rewritten(was, is)
}

// NotOurRight reports whether a request was refused because of who asked.
func NotOurRight(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot create resource")
}
