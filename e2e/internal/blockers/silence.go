package blockers

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Where nothing is reported at all, the component whose turn it is does no work. Each
// reacts within a second or two; what it waits for itself is found before.

// silentScheduler finds a pod that no scheduler has looked at.
func silentScheduler(j snapshot.JobSet) Blocker {
	for _, pod := range onTheWay(j) {
		looked := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
		if pod.Spec.NodeName == "" && !looked {
			name := pod.Spec.SchedulerName
			return Blocker{Code: SilentScheduler, Since: pod.CreationTimestamp.Time, Learner: name != "" && name != corev1.DefaultSchedulerName,
				Message: fmt.Sprintf("no scheduler looks at pod %s: kube-scheduler does no work, or there is none of the name %q", pod.Name, name)}
		}
	}
	return Blocker{}
}

// silentKubelet finds a pod that its node has not begun with, or has not got rid of.
func silentKubelet(j snapshot.JobSet) Blocker {
	for _, pod := range onTheWay(j) {
		if pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending && pod.Status.StartTime == nil && pod.CreationTimestamp.Unix() > 0 {
			return Blocker{Code: SilentKubelet, Since: pod.CreationTimestamp.Time, Message: fmt.Sprintf("the kubelet of node %s has not begun with pod %s", pod.Spec.NodeName, pod.Name)}
		}
	}
	for _, pod := range j.AllPods() {
		if pod.DeletionTimestamp != nil && older(j, *pod.DeletionTimestamp, permanentAfter) {
			return Blocker{Code: SilentKubelet, Message: fmt.Sprintf("pod %s was to end at %s and is still there; its node or a finalizer holds it", pod.Name, pod.DeletionTimestamp.UTC().Format("15:04:05"))}
		}
	}
	return Blocker{}
}

// silentJobController finds a Job that nobody makes pods for, or of whose pods nobody
// takes notice, or that nobody deletes.
func silentJobController(j snapshot.JobSet) Blocker {
	silent := func(since metav1.Time, format string, about ...any) Blocker {
		return Blocker{Code: SilentJobController, Since: since.Time, Message: "kube-controller-manager does no work: " + fmt.Sprintf(format, about...)}
	}
	for _, job := range j.Jobs() {
		if job.DeletionTimestamp != nil && older(j, *job.DeletionTimestamp, permanentAfter) {
			return silent(*job.DeletionTimestamp, "Job %s is deleted since %s and is still there", job.Name, job.DeletionTimestamp.UTC().Format("15:04:05"))
		}
		wanted := ptr.Deref(job.Spec.Parallelism, 1)
		if made := podsOf(j, &job); !ptr.Deref(job.Spec.Suspend, false) && !jobEnded(&job) && made < wanted && job.Status.Succeeded == 0 {
			return silent(job.CreationTimestamp, "Job %s has %d of %d pods, and nothing is reported of it", job.Name, made, wanted)
		}
	}
	for _, pod := range j.AllPods() {
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if ended && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			return silent(endOf(pod), "pod %s has ended (%s), and its Job takes no notice", pod.Name, pod.Status.Phase)
		}
	}
	return Blocker{}
}

// endOf is when the pod's last container ended; without one, when the pod was made.
func endOf(pod corev1.Pod) metav1.Time {
	at := pod.CreationTimestamp
	for _, container := range pod.Status.ContainerStatuses {
		if end := container.State.Terminated; end != nil && at.Before(&end.FinishedAt) {
			at = end.FinishedAt
		}
	}
	return at
}

// silentJobSetController finds a Job to whose end, or a JobSet to whose being let go, the
// JobSet controller does not react.
func silentJobSetController(j snapshot.JobSet) Blocker {
	for _, job := range j.Jobs() {
		says, since := "", job.CreationTimestamp
		switch {
		case ended(j):
		case jobIs(&job, batchv1.JobFailed):
			says = "has failed"
			for _, condition := range job.Status.Conditions {
				since = condition.LastTransitionTime
			}
		case j.Suspended() && !ptr.Deref(job.Spec.Suspend, false):
			says = "runs, though the JobSet is suspended"
		case !j.Suspended() && ptr.Deref(job.Spec.Suspend, false):
			says = "is suspended, though the JobSet is not"
		}
		if says != "" {
			return Blocker{Code: SilentJobSetController, Since: since.Time, Message: fmt.Sprintf("the JobSet controller does not react: Job %s %s", job.Name, says)}
		}
	}
	return Blocker{}
}

// silentKueue finds a JobSet in a queue that Kueue has not looked at, or has let in
// and not let go.
func silentKueue(j snapshot.JobSet) Blocker {
	if j.Queue() == "" || !j.Suspended() || ended(j) {
		return Blocker{}
	}
	silent := func(says string) Blocker {
		return Blocker{Code: SilentKueue, Message: fmt.Sprintf("Kueue does not react: JobSet %s is in queue %s %s", j.Name, j.Queue(), says)}
	}
	workload := j.Workload()
	reserved := workload.Condition(kueuev1.WorkloadQuotaReserved)
	switch {
	case workload.Live == nil:
		return silent("and has no Workload")
	case workload.IsNow(kueuev1.WorkloadAdmitted):
		return silent("and admitted, and is still suspended")
	case reserved == nil:
		return silent("and its Workload has no condition")
	case reserved.Status != metav1.ConditionTrue:
		return Blocker{Code: SilentKueue, For: reportedOnce, Message: fmt.Sprintf("Kueue has not decided on JobSet %s: %s", j.Name, workload.ConditionText(kueuev1.WorkloadQuotaReserved))}
	}
	return Blocker{}
}

// older reports whether that was longer ago than d when the snapshot was taken.
func older(j snapshot.JobSet, since metav1.Time, d time.Duration) bool {
	return !since.IsZero() && j.Snapshot.Taken.Sub(since.Time) > d
}
