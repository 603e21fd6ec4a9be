package blockers

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Where nobody reports anything, whose turn it is is named, and only after a while: for a
// moment each of these is as it should be.
func TestWhoSaysNothingIsNamed(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]struct {
		snapshot func() *snapshot.Snapshot
		change   func(s *snapshot.Snapshot)
		code     snapshot.Code
		says     string
		learner  bool
	}{
		"no scheduler": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { s.Pods[0].Status.Conditions = nil }, SilentScheduler, "no scheduler looks at pod train-worker-0-0-x", false},
		"a scheduler of the learner's own": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Pods[0].Status.Conditions, s.Pods[0].Spec.SchedulerName = nil, "mine"
		}, SilentScheduler, `"mine"`, true},
		"no kubelet": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Pods[0].Spec.NodeName, s.Pods[0].CreationTimestamp = "n", metav1.Now()
		}, SilentKubelet, "node n has not begun with pod train-worker-0-0-x", false},
		"a pod that does not end": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			run(s)
			s.Pods[0].DeletionTimestamp = ptr.To(metav1.NewTime(s.Taken.Add(-time.Minute)))
		}, SilentKubelet, "is still there", false},
		"no Job controller": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) { s.Pods = nil }, SilentJobController, "Job train-worker-0 has 0 of 1 pods, and nothing is reported", false},
		"a Job that is not deleted": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Jobs[0].DeletionTimestamp = ptr.To(metav1.NewTime(s.Taken.Add(-time.Minute)))
		}, SilentJobController, "is still there", false},
		"a pod of whose end its Job takes no notice": {labtest.OnItsWayJobSet, func(s *snapshot.Snapshot) {
			s.Pods[0].Status.Phase, s.Pods[0].Finalizers = corev1.PodFailed, []string{batchv1.JobTrackingFinalizer}
		}, SilentJobController, "its Job takes no notice", false},
		"a Job of whose failure the JobSet takes no notice": {labtest.OnItsWayJobSet, labtest.JobFailed, SilentJobSetController, "Job train-worker-0 has failed", false},
		"a Job that is not let go":                          {labtest.QueuedJobSet, func(s *snapshot.Snapshot) { s.JobSets[0].Spec.Suspend = nil }, SilentJobSetController, "is suspended, though the JobSet is not", false},
		"no Workload":                                       {labtest.QueuedJobSet, func(s *snapshot.Snapshot) { s.Workloads = nil }, SilentKueue, "has no Workload", false},
		"a Workload that Kueue has not looked at":           {labtest.QueuedJobSet, func(*snapshot.Snapshot) {}, SilentKueue, "has no condition", false},
		"a Workload that Kueue does not decide on": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) {
			labtest.Reserve(s, metav1.ConditionFalse, "PendingEvaluation", "in the queue")
		}, SilentKueue, "PendingEvaluation", false},
		"admitted, and not let go": {labtest.QueuedJobSet, func(s *snapshot.Snapshot) {
			labtest.Reserve(s, metav1.ConditionTrue, "QuotaReserved", "")
			s.Workloads[0].Status.Conditions = append(s.Workloads[0].Status.Conditions, metav1.Condition{Type: kueuev1.WorkloadAdmitted, Status: metav1.ConditionTrue})
		}, SilentKueue, "still suspended", false},
	} {
		s := silence.snapshot()
		silence.change(s)
		found := Find(s, []string{"train"})
		if found.Code != silence.code || !strings.Contains(found.Message, silence.says) || found.Learner != silence.learner {
			t.Errorf("%s: %+v", name, found)
		}
		if found.For < permanentAfter {
			t.Errorf("%s ends a wait after %s already", name, found.For)
		}
	}
}

// What is as it should be is nobody's silence.
func TestWhoHasNothingToDoIsNotSilent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *snapshot.Snapshot){
		"all runs": run,
		"a pod that is just being deleted": func(s *snapshot.Snapshot) {
			run(s)
			s.Pods[0].DeletionTimestamp = ptr.To(metav1.NewTime(s.Taken.Add(30 * time.Second)))
		},
		"a Job whose pod has ended well": func(s *snapshot.Snapshot) {
			s.Pods[0].Status.Phase, s.Jobs[0].Status.Succeeded = corev1.PodSucceeded, 1
		},
		"a failed JobSet": func(s *snapshot.Snapshot) {
			labtest.JobFailed(s)
			s.JobSets[0].Status.Conditions = []metav1.Condition{{Type: "Failed", Status: metav1.ConditionTrue}}
		},
	} {
		s := labtest.OnItsWayJobSet()
		change(s)
		if found := Find(s, []string{"train"}); found.Code != "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
