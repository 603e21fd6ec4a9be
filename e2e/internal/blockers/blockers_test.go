package blockers

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

func TestWhatGoesOnIsNotHeldUp(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func() *snapshot.Snapshot{
		"a pod on its way": labtest.OnItsWayJobSet,
		"a JobSet that is not there": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			s.JobSets = nil
			return s
		},
		"let in a moment ago": func() *snapshot.Snapshot {
			s := labtest.QueuedJobSet()
			labtest.Reserve(s, metav1.ConditionTrue, "QuotaReserved", "")
			return s
		},
		"a pod that Kueue gates": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			s.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
			return s
		},
		"a creation that was refused before and is not any more": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			s.Events = []snapshot.Event{{UID: "job", Reason: "FailedCreate", Message: "quota"}, {UID: "job", Reason: "SuccessfulCreate"}}
			return s
		},
		"a completed JobSet whose Jobs are gone": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			s.Jobs = nil
			s.JobSets[0].Status.Conditions = []metav1.Condition{{Type: string(jobsetv1.JobSetCompleted), Status: metav1.ConditionTrue}}
			return s
		},
		"no controller is there, and none has anything to do": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			labtest.TakeAway(s, 0, snapshot.ScaledToNone)
			labtest.TakeAway(s, 1, snapshot.ScaledToNone)
			return s
		},
		"no JobSet controller, and all has ended": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			labtest.JobFailed(s)
			s.JobSets[0].Status.Conditions = []metav1.Condition{{Type: string(jobsetv1.JobSetFailed), Status: metav1.ConditionTrue}}
			labtest.TakeAway(s, 0, snapshot.ScaledToNone)
			return s
		},
		"nothing is known of the controllers": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			s.Controllers = nil
			return s
		},
		"a queue without a JobSet in it": func() *snapshot.Snapshot {
			s := labtest.OnItsWayJobSet()
			s.LocalQueues = nil
			return s
		},
	} {
		if held := Find(change(), []string{"train"}); held.Code != "" {
			t.Errorf("%s is taken for held up: %+v", name, held)
		}
	}
}

func TestWhatHoldsAJobSetUpIsReported(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]struct {
		snapshot func() *snapshot.Snapshot
		change   func(s *snapshot.Snapshot)
		code     snapshot.Code
		says     []string
	}{
		"no JobSet controller, and the Job has failed": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { labtest.JobFailed(s); labtest.TakeAway(s, 0, snapshot.ScaledToNone) },
			BlockedJobSetController, []string{"the JobSet controller does no work", "jobset-system/m", "scaled to 0"}},
		"no JobSet controller, and the Job is still suspended": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { s.Jobs[0].Spec.Suspend = ptr.To(true); labtest.TakeAway(s, 0, "fell over") },
			BlockedJobSetController, []string{"the JobSet controller"}},
		"no JobSet controller, and no Job": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { s.Jobs = nil; labtest.TakeAway(s, 0, "fell over") },
			BlockedJobSetController, []string{"the JobSet controller"}},
		"no Kueue, whose webhook keeps a Job from ending": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
			labtest.TakeAway(s, 1, snapshot.ScaledToNone)
		}, BlockedKueueController, []string{"the Kueue controller"}},
		"no Kueue, and it must be asked": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) { labtest.TakeAway(s, 1, snapshot.ScaledToNone) }, BlockedKueueController, []string{"the Kueue controller"}},
		"no Kueue, whose webhook is in the way of a pod": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Pods = nil
			s.Events = []snapshot.Event{{UID: "job", Reason: "FailedCreate", Message: "connection refused"}}
			labtest.TakeAway(s, 1, snapshot.ScaledToNone)
		}, BlockedKueueController, []string{"the Kueue controller"}},
		"nobody may run a command": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { s.ExecRefused = "no shells in production" }, BlockedExec, []string{"no shells"}},
		"no DNS":                   {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { s.Unanswered = "no DNS server answers" }, BlockedDNS, []string{"no DNS server answers"}},
		"no LocalQueue": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) { s.LocalQueues = nil }, BlockedQueue,
			[]string{"waits in LocalQueue lq, and there is none of that name in ml"}},
		"a stopped queue": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) {
			s.LocalQueues[0].Status.Conditions = []metav1.Condition{{Type: "Active", Status: metav1.ConditionFalse, Reason: "ClusterQueueIsInactive", Message: "stopped"}}
		}, BlockedQueue, []string{"leads to ClusterQueue ml and lets nobody in", "ClusterQueueIsInactive"}},
		"a resource that is not covered": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) {
			s.Workloads[0].Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("10m")
			labtest.Reserve(s, metav1.ConditionFalse, "Pending", "resource cpu unavailable")
		}, BlockedCoverage, []string{"its pods ask for cpu, and ClusterQueue ml covers only nvidia.com/gpu"}},
		"quota that is not free": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) {
			labtest.Reserve(s, metav1.ConditionFalse, "Pending", "insufficient unused quota, 1 more needed")
		},
			BlockedKueue, []string{"Kueue does not let JobSet train in", "1 more needed"}},
		"pods that are refused": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Pods = nil
			s.Events = []snapshot.Event{{UID: "job", Reason: "FailedCreate", Message: "exceeded quota: few"}}
		}, BlockedCreation, []string{"the pods of Job train-worker-0 cannot be created: exceeded quota: few"}},
		"no node with a GPU left": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}}
		}, BlockedScheduler, []string{"train-worker-0-0-x has no node to run on", "Insufficient nvidia.com/gpu"}},
		"no Job at all": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Jobs = nil
			s.Events = []snapshot.Event{{UID: "js", Type: "Warning", Reason: "JobCreationFailed", Message: "jobs is forbidden"}}
		}, BlockedNoJobs, []string{"has made no Job of JobSet train: jobs is forbidden"}},
		"a Job that is refused": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { refuseAJob(s); run(s) },
			BlockedNoJobs, []string{"has made 1 of the 2 Jobs of JobSet train: exceeded quota: one-job"}},
		"a Job that is refused, and pods on their way": {labtest.OnItsWayJobSet, refuseAJob, "", nil},
		"all Jobs, once one was refused": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			refuseAJob(s)
			run(s)
			s.JobSets[0].Spec.ReplicatedJobs[0].Replicas = 1
		}, "", nil},
		"fewer Jobs, and none refused": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			refuseAJob(s)
			run(s)
			s.Events = nil
		}, "", nil},
	} {
		s := held.snapshot()
		held.change(s)
		found := Find(s, []string{"other", "train"})
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
	t.Parallel()
	s := labtest.OnItsWayJobSet()
	labtest.JobFailed(s)
	labtest.TakeAway(s, 0, snapshot.ScaledToNone)
	off := Find(s, []string{"train"}).For
	labtest.TakeAway(s, 0, "MinimumReplicasUnavailable")
	if over := Find(s, []string{"train"}).For; off != ScaledDownAfter || over != ControllerBackWithin {
		t.Errorf("one that is switched off is waited for %s, one that fell over %s", off, over)
	}
}

// refuseAJob makes a JobSet of two Jobs, of which the API server refuses the second.
func refuseAJob(s *snapshot.Snapshot) {
	s.JobSets[0].Spec.ReplicatedJobs[0].Replicas = 2
	s.Events = []snapshot.Event{{UID: "js", Type: "Warning", Reason: "JobCreationFailed", Message: "exceeded quota: one-job"}}
}

// run has the only pod Running and Ready.
func run(s *snapshot.Snapshot) {
	s.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
}
