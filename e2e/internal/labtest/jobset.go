package labtest

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

func OwnedBy(kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}}
}

// OnItsWayJobSet is a JobSet of one Job of one pod that has just been placed.
func OnItsWayJobSet() *snapshot.Snapshot {
	labels := map[string]string{jobsetv1.JobSetNameKey: "train"}
	return &snapshot.Snapshot{
		Taken: time.Now(), Namespace: "ml", GPUResource: "nvidia.com/gpu",
		JobSets: []jobsetv1.JobSet{{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "js"},
			Spec: jobsetv1.JobSetSpec{ReplicatedJobs: []jobsetv1.ReplicatedJob{{Name: "worker", Replicas: 1}}}}},
		Jobs: []batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "train-worker-0", UID: "job", Labels: labels, OwnerReferences: OwnedBy("JobSet", "train", "js")}}},
		Pods: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "train-worker-0-0-x", Labels: labels, OwnerReferences: OwnedBy("Job", "train-worker-0", "job")},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}}},
		Controllers: []snapshot.Controller{{Name: "JobSet", Deployment: "jobset-system/m", Available: true}, {Name: "Kueue", Deployment: "kueue-system/m", Available: true}},
	}
}

// QueuedJobSet waits in lq, which leads to ml, and Kueue has not looked yet.
func QueuedJobSet() *snapshot.Snapshot {
	s := OnItsWayJobSet()
	s.JobSets[0].Labels = map[string]string{kueueconstants.QueueLabel: "lq"}
	s.JobSets[0].Spec.Suspend, s.Jobs[0].Spec.Suspend = ptr.To(true), ptr.To(true)
	s.Pods = nil
	isActive := []metav1.Condition{{Type: "Active", Status: metav1.ConditionTrue}}
	s.LocalQueues = []kueuev1.LocalQueue{{ObjectMeta: Named("lq"), Spec: kueuev1.LocalQueueSpec{ClusterQueue: "ml"}, Status: kueuev1.LocalQueueStatus{Conditions: isActive}}}
	s.ClusterQueue = &kueuev1.ClusterQueue{ObjectMeta: Named("ml"), Spec: kueuev1.ClusterQueueSpec{
		ResourceGroups: []kueuev1.ResourceGroup{{CoveredResources: []corev1.ResourceName{"nvidia.com/gpu"}}}}}
	s.Workloads = []kueuev1.Workload{{ObjectMeta: metav1.ObjectMeta{Name: "jobset-train", OwnerReferences: OwnedBy("JobSet", "train", "js")},
		Spec: kueuev1.WorkloadSpec{PodSets: []kueuev1.PodSet{{Name: "worker", Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}}}}}}}}
	return s
}

func Reserve(s *snapshot.Snapshot, status metav1.ConditionStatus, reason, message string) {
	s.Workloads[0].Status.Conditions = []metav1.Condition{{Type: kueuev1.WorkloadQuotaReserved, Status: status, Reason: reason, Message: message}}
}

func TakeAway(s *snapshot.Snapshot, controller int, why string) {
	s.Controllers[controller].Available, s.Controllers[controller].Why = false, why
}

func JobFailed(s *snapshot.Snapshot) {
	s.Jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
}
