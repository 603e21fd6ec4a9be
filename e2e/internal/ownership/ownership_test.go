package ownership

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// kept is a JobSet of the fixtures as an earlier run's KEEP=1 leaves it, admitted.
func kept(t *testing.T) *jobsetv1.JobSet {
	t.Helper()
	content, err := fixtures.Read("steps/train.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var jobSet jobsetv1.JobSet
	if err := yaml.Unmarshal(content, &jobSet); err != nil {
		t.Fatal(err)
	}
	applied, err := appliedDigest(&jobSet)
	if err != nil {
		t.Fatal(err)
	}
	jobSet.UID = "kept"
	jobSet.Annotations = map[string]string{fixtures.RunAnnotation: "earlier", fixtures.AppliedAnnotation: applied}
	jobSet.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: cluster.FieldManager, Operation: metav1.ManagedFieldsOperationApply},
		{Manager: "kueue", Operation: metav1.ManagedFieldsOperationUpdate},
		{Manager: "manager", Operation: metav1.ManagedFieldsOperationApply, Subresource: "status"},
	}
	jobSet.Spec.Suspend = ptr.To(false)
	for i := range jobSet.Spec.ReplicatedJobs {
		template := &jobSet.Spec.ReplicatedJobs[i].Template.Spec.Template
		template.Spec.NodeSelector = map[string]string{"gpu": "a100"}
		template.Labels, template.Annotations = map[string]string{"kueue.x-k8s.io/podset": "leader"}, map[string]string{"kueue.x-k8s.io/workload": "jobset-train"}
	}
	return &jobSet
}

// What KEEP=1 left is taken away by the next run, unless a learner has made it
// theirs: a learner's work is never deleted for a name or a field manager.
func TestOnlyWhatThisSuiteAppliedAndNobodyChangedIsItsOwn(t *testing.T) {
	t.Parallel()
	if !appliedByUs(kept(t)) {
		t.Fatal("what an earlier run left and Kueue has admitted is not known for ours")
	}
	by := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) func(*jobsetv1.JobSet) {
		return func(j *jobsetv1.JobSet) {
			j.ManagedFields = append(j.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: subresource})
		}
	}
	for name, change := range map[string]func(j *jobsetv1.JobSet){
		"applied by kubectl": func(j *jobsetv1.JobSet) { j.Annotations[snapshot.KubectlApplied] = "{}" },
		"the same values applied by kubectl --server-side": by("kubectl", metav1.ManagedFieldsOperationApply, ""),
		"the same values applied by anybody else":          by("argocd-controller", metav1.ManagedFieldsOperationApply, ""),
		"suspended by kubectl edit":                        by("kubectl-edit", metav1.ManagedFieldsOperationUpdate, ""),
		"scaled by kubectl":                                by("kubectl", metav1.ManagedFieldsOperationUpdate, "scale"),
		"labelled":                                         func(j *jobsetv1.JobSet) { j.Labels["mine"] = "yes" },
		"annotated":                                        func(j *jobsetv1.JobSet) { j.Annotations["mine"] = "yes" },
		"a queue taken away":                               func(j *jobsetv1.JobSet) { delete(j.Labels, "kueue.x-k8s.io/queue-name") },
		"a number changed":                                 func(j *jobsetv1.JobSet) { j.Spec.ReplicatedJobs[1].Template.Spec.Parallelism = ptr.To(int32(1)) },
		"a line taken away":                                func(j *jobsetv1.JobSet) { j.Spec.ReplicatedJobs[0].Template.Spec.Completions = nil },
		"a command changed": func(j *jobsetv1.JobSet) {
			j.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0].Command = []string{"sleep", "1"}
		},
		"a pod label added": func(j *jobsetv1.JobSet) {
			j.Spec.ReplicatedJobs[0].Template.Spec.Template.Labels = map[string]string{"mine": "yes"}
		},
		"of an earlier version of this suite": func(j *jobsetv1.JobSet) { j.Annotations = nil },
		"made anew from a copy of ours":       func(j *jobsetv1.JobSet) { j.ManagedFields[0].Manager = "python" },
	} {
		jobSet := kept(t)
		if change(jobSet); appliedByUs(jobSet) {
			t.Errorf("%s: it is taken for ours, and would be deleted", name)
		}
	}
}

// inLab is a target of this run with these objects in its cluster.
func inLab(t *testing.T, hooks interceptor.Funcs, objects ...client.Object) *cluster.Cluster {
	t.Helper()
	return &cluster.Cluster{Pins: labtest.Pinned(t), Settings: settings.Settings{Run: "this", WorkDir: t.TempDir(), Reports: t.TempDir()},
		API: labtest.Client(t, hooks, objects...)}
}

func TestWhatIsAppliedCarriesTheRunAndKeepsALearnersAnnotations(t *testing.T) {
	t.Parallel()
	content, err := fixtures.Read("steps/hello.yaml")
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetAnnotations(map[string]string{"mine": "yes"})
	var sent []*unstructured.Unstructured
	w := inLab(t, interceptor.Funcs{Apply: func(_ context.Context, _ client.WithWatch, applied runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
		content, err := yaml.Marshal(applied)
		if err != nil {
			return err
		}
		one := &unstructured.Unstructured{}
		sent = append(sent, one)
		return yaml.Unmarshal(content, &one.Object)
	}})
	if err := ApplyMarked(t.Context(), w, object); err != nil {
		t.Fatal(err)
	}
	if len(sent) != 2 {
		t.Fatalf("%d requests, not a dry run and the real one", len(sent))
	}
	annotations := sent[1].GetAnnotations()
	if annotations["mine"] != "yes" || annotations[fixtures.RunAnnotation] != "this" || len(annotations[fixtures.AppliedAnnotation]) != 64 {
		t.Errorf("applied with the annotations %v", annotations)
	}
}

func TestAJobSetThatAppearedMeanwhileIsNotAppliedOver(t *testing.T) {
	t.Parallel()
	theirs := kept(t)
	theirs.Annotations, theirs.ManagedFields = nil, nil
	w := inLab(t, interceptor.Funcs{}, theirs)
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(jobsetv1.SchemeGroupVersion.WithKind("JobSet"))
	object.SetNamespace("ml")
	object.SetName("train")
	if err := ApplyMarked(t.Context(), w, object); err == nil || !strings.Contains(err.Error(), "kubectl -n ml delete jobset train") {
		t.Errorf("it was applied over: %v", err)
	}
}

func TestADeletionNamesTheVeryObject(t *testing.T) {
	t.Parallel()
	there := kept(t)
	there.ManagedFields = nil
	var uid types.UID
	w := inLab(t, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
		asked := client.DeleteOptions{}
		asked.ApplyOptions(options)
		if asked.Preconditions != nil && asked.Preconditions.UID != nil {
			uid = *asked.Preconditions.UID
		}
		return c.Delete(ctx, object)
	}}, there)
	if err := Remove(t.Context(), w, []jobsetv1.JobSet{*there}); err != nil {
		t.Fatal(err)
	}
	if uid != "kept" {
		t.Errorf("deleted with the precondition of UID %q", uid)
	}
}
