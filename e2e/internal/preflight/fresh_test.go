package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// solved is a learner's lab with train admitted, and a pod of somebody's that only
// has the label of a JobSet's.
func solved(t *testing.T) []client.Object {
	t.Helper()
	owned := func(name, kind, owner string, labels map[string]string) metav1.ObjectMeta {
		meta := metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID("uid-" + name), Labels: labels}
		if owner != "" {
			meta.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: owner, UID: types.UID("uid-" + owner), Controller: ptr.To(true)}}
		}
		return meta
	}
	train := &jobsetv1.JobSet{}
	if content, err := fixtures.Read("steps/train.yaml"); err != nil || yaml.Unmarshal(content, train) != nil {
		t.Fatal(err)
	}
	train.UID, train.Spec.Suspend = "uid-train", ptr.To(false)
	ofTrain := map[string]string{jobsetv1.JobSetNameKey: "train"}
	one := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	pod := corev1.PodSpec{NodeName: "lab", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Limits: one}}}}
	admitted := []metav1.Condition{{Type: kueuev1.WorkloadQuotaReserved, Status: metav1.ConditionTrue}}
	return []client.Object{
		train,
		&batchv1.Job{ObjectMeta: owned("train-leader-0", "JobSet", "train", ofTrain)},
		&corev1.Pod{ObjectMeta: owned("train-leader-0-0-abcde", "Job", "train-leader-0", ofTrain), Spec: pod},
		&corev1.Pod{ObjectMeta: owned("byhand", "", "", ofTrain), Spec: pod},
		&kueuev1.LocalQueue{ObjectMeta: owned("lq", "", "", nil), Spec: kueuev1.LocalQueueSpec{ClusterQueue: "ml"}},
		&kueuev1.Workload{ObjectMeta: owned("jobset-train", "JobSet", "train", nil), Spec: kueuev1.WorkloadSpec{QueueName: "lq"}, Status: kueuev1.WorkloadStatus{Conditions: admitted}},
		&kueuev1.Workload{ObjectMeta: owned("job-waits", "Job", "train-leader-0", nil), Spec: kueuev1.WorkloadSpec{QueueName: "lq"}},
		&kueuev1.Workload{ObjectMeta: owned("elsewhere", "RayJob", "not-there", nil), Spec: kueuev1.WorkloadSpec{QueueName: "lq"}, Status: kueuev1.WorkloadStatus{Conditions: admitted}},
	}
}

func TestFreshRunsOverALearnersSolvedLab(t *testing.T) {
	t.Parallel()
	for _, fresh := range []bool{false, true} {
		w := inLab(t, solved(t)...)
		w.Settings.Fresh = fresh
		facts := &Facts{Fresh: fresh, GPUHolders: map[string]int64{}}
		if err := collectOccupants(t.Context(), w, facts); err != nil {
			t.Fatal(err)
		}
		if err := collectQueueUsers(t.Context(), w, facts); err != nil {
			t.Fatal(err)
		}
		lent, waiting := "ml/elsewhere, ml/jobset-train", "ml/job-waits"
		if fresh {
			lent, waiting = "ml/elsewhere", "none"
		}
		if text.List(facts.Interference.HoldingQuota) != lent || text.List(facts.Interference.WaitingForQuota) != waiting {
			t.Errorf("fresh %t: quota is held by %v, and %v wait", fresh, facts.Interference.HoldingQuota, facts.Interference.WaitingForQuota)
		}
		if _, held := facts.GPUHolders["ml/train-leader-0-0-abcde"]; held == fresh {
			t.Errorf("fresh %t: devices are held by %v", fresh, facts.GPUHolders)
		}
		if _, held := facts.GPUHolders["ml/byhand"]; !held {
			t.Errorf("fresh %t: a pod that no JobSet made is in nobody's way: %v", fresh, facts.GPUHolders)
		}
	}
}

func TestFreshKeepsTheYAMLOfWhatItDeletes(t *testing.T) {
	t.Parallel()
	w := inLab(t, solved(t)[0]) // no garbage collector is there to delete the rest
	w.Settings.Fresh = true
	reported, err := ownership.RemoveUnmanaged(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(reported, "jobsets.yaml") || !strings.Contains(reported, "the JobSets train of namespace ml were deleted") {
		t.Errorf("it says %q", reported)
	}
	found, err := filepath.Glob(filepath.Join(w.Settings.WorkDir, "before-*", "jobsets.yaml"))
	if err != nil || len(found) != 1 {
		t.Fatalf("kept: %v, %v", found, err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var list unstructured.UnstructuredList
	if err := yaml.Unmarshal(content, &list); err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "train" || list.Items[0].GetKind() != "JobSet" {
		t.Fatalf("kept (%v):\n%s", err, content)
	}
	meta, _, _ := unstructured.NestedMap(list.Items[0].Object, "metadata")
	for _, field := range []string{"managedFields", "uid", "resourceVersion"} {
		if _, there := meta[field]; there {
			t.Errorf("metadata.%s keeps kubectl create from taking it back", field)
		}
	}
}
