package lab

import (
	"strings"
	"testing"
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
)

func ownedBy(kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}}
}

// onItsWayJobSet is a JobSet of one Job of one pod that has just been placed.
func onItsWayJobSet() *Snapshot {
	labels := map[string]string{jobsetv1.JobSetNameKey: "train"}
	return &Snapshot{
		Taken: time.Now(), Namespace: "ml", GPUResource: "nvidia.com/gpu",
		JobSets: []jobsetv1.JobSet{{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "js"},
			Spec: jobsetv1.JobSetSpec{ReplicatedJobs: []jobsetv1.ReplicatedJob{{Name: "worker", Replicas: 1}}}}},
		Jobs: []batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "train-worker-0", UID: "job", Labels: labels}}},
		Pods: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "train-worker-0-0-x", Labels: labels, OwnerReferences: ownedBy("Job", "train-worker-0", "job")},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}}},
		Controllers: []Controller{{Name: "JobSet", Deployment: "jobset-system/m", Available: true}, {Name: "Kueue", Deployment: "kueue-system/m", Available: true}},
	}
}

// queuedJobSet waits in lq, which leads to ml, and Kueue has not looked yet.
func queuedJobSet() *Snapshot {
	s := onItsWayJobSet()
	s.JobSets[0].Labels = map[string]string{kueueconstants.QueueLabel: "lq"}
	s.JobSets[0].Spec.Suspend, s.Jobs[0].Spec.Suspend = ptr.To(true), ptr.To(true)
	s.Pods = nil
	isActive := []metav1.Condition{{Type: "Active", Status: metav1.ConditionTrue}}
	s.LocalQueues = []kueuev1.LocalQueue{{ObjectMeta: named("lq"), Spec: kueuev1.LocalQueueSpec{ClusterQueue: "ml"}, Status: kueuev1.LocalQueueStatus{Conditions: isActive}}}
	s.ClusterQueue = &kueuev1.ClusterQueue{ObjectMeta: named("ml"), Spec: kueuev1.ClusterQueueSpec{
		ResourceGroups: []kueuev1.ResourceGroup{{CoveredResources: []corev1.ResourceName{"nvidia.com/gpu"}}}}}
	s.Workloads = []kueuev1.Workload{{ObjectMeta: metav1.ObjectMeta{Name: "jobset-train", OwnerReferences: ownedBy("JobSet", "train", "js")},
		Spec: kueuev1.WorkloadSpec{PodSets: []kueuev1.PodSet{{Name: "worker", Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}}}}}}}}
	return s
}

func (s *Snapshot) reserve(status metav1.ConditionStatus, reason, message string) {
	s.Workloads[0].Status.Conditions = []metav1.Condition{{Type: kueuev1.WorkloadQuotaReserved, Status: status, Reason: reason, Message: message}}
}

func (s *Snapshot) away(controller int, why string) {
	s.Controllers[controller].Available, s.Controllers[controller].Why = false, why
}

func (s *Snapshot) jobFailed() {
	s.Jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
}

func TestWhatGoesOnIsNotHeldUp(t *testing.T) {
	for name, change := range map[string]func() *Snapshot{
		"a pod on its way": onItsWayJobSet,
		"a JobSet that is not there": func() *Snapshot {
			s := onItsWayJobSet()
			s.JobSets = nil
			return s
		},
		"Kueue has not looked yet": queuedJobSet,
		"Kueue has not decided yet": func() *Snapshot {
			s := queuedJobSet()
			s.reserve(metav1.ConditionFalse, "PendingEvaluation", "in the queue")
			return s
		},
		"let in a moment ago": func() *Snapshot {
			s := queuedJobSet()
			s.reserve(metav1.ConditionTrue, "QuotaReserved", "")
			return s
		},
		"a pod that Kueue gates": func() *Snapshot {
			s := onItsWayJobSet()
			s.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
			return s
		},
		"a creation that was refused before and is not any more": func() *Snapshot {
			s := onItsWayJobSet()
			s.Events = []Event{{UID: "job", Reason: "FailedCreate", Message: "quota"}, {UID: "job", Reason: "SuccessfulCreate"}}
			return s
		},
		"a Job that was suspended after a refusal": func() *Snapshot {
			s := queuedJobSet()
			s.Events = []Event{{UID: "job", Reason: "FailedCreate", Message: "quota"}}
			return s
		},
		"a completed JobSet whose Jobs are gone": func() *Snapshot {
			s := onItsWayJobSet()
			s.Jobs = nil
			s.JobSets[0].Status.Conditions = []metav1.Condition{{Type: string(jobsetv1.JobSetCompleted), Status: metav1.ConditionTrue}}
			return s
		},
		"no controller is there, and none has anything to do": func() *Snapshot {
			s := onItsWayJobSet()
			s.away(0, scaledToNone)
			s.away(1, scaledToNone)
			return s
		},
		"no Kueue, and a Job has ended": func() *Snapshot {
			s := onItsWayJobSet()
			s.jobFailed()
			s.away(1, scaledToNone)
			return s
		},
		"no JobSet controller, and all has ended": func() *Snapshot {
			s := onItsWayJobSet()
			s.jobFailed()
			s.JobSets[0].Status.Conditions = []metav1.Condition{{Type: string(jobsetv1.JobSetFailed), Status: metav1.ConditionTrue}}
			s.away(0, scaledToNone)
			return s
		},
		"nothing is known of the controllers": func() *Snapshot {
			s := onItsWayJobSet()
			s.Controllers = nil
			return s
		},
		"a queue without a JobSet in it": func() *Snapshot {
			s := onItsWayJobSet()
			s.LocalQueues = nil
			return s
		},
	} {
		if held := change().HeldUp([]string{"train"}); held.Code != "" {
			t.Errorf("%s is taken for held up: %+v", name, held)
		}
	}
}

func TestWhatHoldsAJobSetUpIsTold(t *testing.T) {
	for name, held := range map[string]struct {
		snapshot func() *Snapshot
		change   func(s *Snapshot)
		code     Code
		says     []string
	}{
		"no JobSet controller, and the Job has failed": {onItsWayJobSet, func(s *Snapshot) { s.jobFailed(); s.away(0, scaledToNone) },
			BlockedController, []string{"the JobSet controller does no work", "jobset-system/m", "scaled to 0"}},
		"no JobSet controller, and the Job is still suspended": {onItsWayJobSet, func(s *Snapshot) { s.Jobs[0].Spec.Suspend = ptr.To(true); s.away(0, "fell over") },
			BlockedController, []string{"the JobSet controller"}},
		"no JobSet controller, and no Job": {onItsWayJobSet, func(s *Snapshot) { s.Jobs = nil; s.away(0, "fell over") },
			BlockedController, []string{"the JobSet controller"}},
		"no Kueue, whose webhook keeps a Job from ending": {onItsWayJobSet, func(s *Snapshot) {
			s.Jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
			s.away(1, scaledToNone)
		}, BlockedController, []string{"the Kueue controller"}},
		"no Kueue, and it must be asked": {queuedJobSet, func(s *Snapshot) { s.away(1, scaledToNone) }, BlockedController, []string{"the Kueue controller"}},
		"no Kueue, whose webhook is in the way of a pod": {onItsWayJobSet, func(s *Snapshot) {
			s.Pods = nil
			s.Events = []Event{{UID: "job", Reason: "FailedCreate", Message: "connection refused"}}
			s.away(1, scaledToNone)
		}, BlockedController, []string{"the Kueue controller"}},
		"no DNS": {onItsWayJobSet, func(s *Snapshot) { s.Unanswered = "no DNS server answers" }, BlockedDNS, []string{"no DNS server answers"}},
		"no LocalQueue": {queuedJobSet, func(s *Snapshot) { s.LocalQueues = nil }, BlockedQueue,
			[]string{"waits in LocalQueue lq, and there is none of that name in ml"}},
		"a stopped queue": {queuedJobSet, func(s *Snapshot) {
			s.LocalQueues[0].Status.Conditions = []metav1.Condition{{Type: "Active", Status: metav1.ConditionFalse, Reason: "ClusterQueueIsInactive", Message: "stopped"}}
		}, BlockedQueue, []string{"leads to ClusterQueue ml and lets nobody in", "ClusterQueueIsInactive"}},
		"a resource that is not covered": {queuedJobSet, func(s *Snapshot) {
			s.Workloads[0].Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("10m")
			s.reserve(metav1.ConditionFalse, "Pending", "resource cpu unavailable")
		}, BlockedCoverage, []string{"its pods ask for cpu, and ClusterQueue ml covers only nvidia.com/gpu"}},
		"quota that is not free": {queuedJobSet, func(s *Snapshot) {
			s.reserve(metav1.ConditionFalse, "Pending", "insufficient unused quota, 1 more needed")
		},
			BlockedKueue, []string{"Kueue does not let JobSet train in", "1 more needed"}},
		"pods that are refused": {onItsWayJobSet, func(s *Snapshot) {
			s.Pods = nil
			s.Events = []Event{{UID: "job", Reason: "FailedCreate", Message: "exceeded quota: few"}}
		}, BlockedCreation, []string{"the pods of Job train-worker-0 cannot be created: exceeded quota: few"}},
		"no node with a GPU left": {onItsWayJobSet, func(s *Snapshot) {
			s.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}}
		}, BlockedScheduler, []string{"train-worker-0-0-x has no node to run on", "Insufficient nvidia.com/gpu"}},
		"no Job at all": {onItsWayJobSet, func(s *Snapshot) {
			s.Jobs = nil
			s.Events = []Event{{UID: "js", Type: "Warning", Reason: "JobCreationFailed", Message: "jobs is forbidden"}}
		}, BlockedNoJobs, []string{"has made no Job of JobSet train: jobs is forbidden"}},
	} {
		s := held.snapshot()
		held.change(s)
		found := s.HeldUp([]string{"other", "train"})
		if found.Code != held.code {
			t.Errorf("%s: the code is %q, not %q (%s)", name, found.Code, held.code, found.Message)
		}
		for _, words := range held.says {
			if !strings.Contains(found.Message, words) {
				t.Errorf("%s: %q is not in %q", name, words, found.Message)
			}
		}
	}
}

func TestAControllerThatFellOverIsWaitedForLonger(t *testing.T) {
	s := onItsWayJobSet()
	s.jobFailed()
	s.away(0, scaledToNone)
	off := s.HeldUp([]string{"train"}).For
	s.away(0, "MinimumReplicasUnavailable")
	if over := s.HeldUp([]string{"train"}).For; off != switchedOffFor || over != awayFor {
		t.Errorf("one that is switched off is waited for %s, one that fell over %s", off, over)
	}
}
