// Package blockers finds in a snapshot why a wait cannot end.
package blockers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// How long a state that can pass must stay before it is taken to stay for good.
// Each passes within a second or two where nothing is wrong.
const (
	// The scheduler tries a pod again at most ten seconds after something changed
	// for it, and Kueue and the Job controller are no slower at first.
	permanentAfter = 15 * time.Second
	// A controller that was killed is back and leads again in less.
	ControllerBackWithin = 20 * time.Second
	// One that somebody switched off is not, unless it is being replaced.
	ScaledDownAfter = 5 * time.Second
	// A lookup gives up after some five seconds, so this is two of them.
	unansweredAfter = 10 * time.Second
)

// A Blocker is what keeps a JobSet from going on and does not pass by itself.
type Blocker struct {
	Code snapshot.Code `json:"code"`
	// JobSet is the blocked one; empty where the Blocker is of the whole lab.
	JobSet  string `json:"jobSet,omitempty"`
	Message string `json:"message"`
	// For is how long it must be there to be taken for permanent.
	For time.Duration `json:"-"`
}

// Codes of Blockers.
const (
	BlockedDNS              snapshot.Code = "DNSUnanswered"
	BlockedJobSetController snapshot.Code = "JobSetControllerUnavailable"
	BlockedKueueController  snapshot.Code = "KueueControllerUnavailable"
	BlockedQueue            snapshot.Code = "QueueNotAdmitting"
	BlockedCoverage         snapshot.Code = "ResourceNotCovered"
	BlockedKueue            snapshot.Code = "NotAdmitted"
	BlockedCreation         snapshot.Code = "PodCreationRefused"
	BlockedScheduler        snapshot.Code = "PodUnschedulable"
	BlockedNoJobs           snapshot.Code = "JobsNotCreated"
	EndedJobSet             snapshot.Code = "JobSetEnded"
	EndedPod                snapshot.Code = "PodCannotStart"
	EndedWorkload           snapshot.Code = "WorkloadFinished"
)

// Find finds what keeps these JobSets from going on; its Code is empty if
// nothing is seen to. Unlike a DeadEnd each could pass, if somebody fixes the
// lab, so it ends a wait only when it was there for long without a break.
// The causes come first: what they bring about would be reported in their place.
func Find(s *snapshot.Snapshot, jobSets []string) Blocker {
	if s.Unanswered != "" {
		return Blocker{Code: BlockedDNS, Message: s.Unanswered, For: unansweredAfter}
	}
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.Live == nil {
			continue
		}
		if held := blockedByController(j); held.Code != "" {
			return held
		}
		for _, held := range []struct {
			code snapshot.Code
			by   func(snapshot.JobSet) string
		}{
			{BlockedQueue, blockedByQueue}, {BlockedCoverage, blockedByCoverage}, {BlockedKueue, blockedByKueue},
			{BlockedCreation, blockedByPodCreation}, {BlockedScheduler, blockedByScheduler}, {BlockedNoJobs, blockedWithoutJobs},
		} {
			if says := held.by(j); says != "" {
				return Blocker{held.code, name, says, permanentAfter}
			}
		}
	}
	return Blocker{}
}

// waitsForQuota tells a JobSet in a queue that Kueue has not let in.
func waitsForQuota(j snapshot.JobSet) bool {
	return j.Queue() != "" && j.Suspended() && !j.Workload().IsNow(kueuev1.WorkloadQuotaReserved)
}

// blockedByQueue finds the queue that the JobSet names missing, or not working.
func blockedByQueue(j snapshot.JobSet) string {
	if !waitsForQuota(j) {
		return ""
	}
	queue := localQueue(j)
	if queue == nil {
		return fmt.Sprintf("JobSet %s waits in LocalQueue %s, and there is none of that name in %s", j.Name, j.Queue(), j.Snapshot.Namespace)
	}
	if idle := snapshot.Active(queue.Status.Conditions); idle != "" {
		return fmt.Sprintf("JobSet %s waits in LocalQueue %s, which leads to ClusterQueue %s and lets nobody in: %s",
			j.Name, queue.Name, queue.Spec.ClusterQueue, idle)
	}
	return ""
}

func localQueue(j snapshot.JobSet) *kueuev1.LocalQueue {
	queues := j.Snapshot.LocalQueues
	for i := range queues {
		if queues[i].Name == j.Queue() {
			return &queues[i]
		}
	}
	return nil
}

// blockedByCoverage finds a resource that the JobSet's pods ask for and that the
// lab's ClusterQueue has no quota of any size for.
func blockedByCoverage(j snapshot.JobSet) string {
	queue := j.Snapshot.ClusterQueue
	workload := j.Workload()
	if !waitsForQuota(j) || queue == nil || workload.Live == nil || workload.Condition(kueuev1.WorkloadQuotaReserved) == nil {
		return ""
	}
	if local := localQueue(j); local == nil || string(local.Spec.ClusterQueue) != queue.Name {
		return ""
	}
	for _, podSet := range workload.Live.Spec.PodSets {
		for _, container := range podSet.Template.Spec.Containers {
			for resource := range container.Resources.Requests {
				if !snapshot.Covers(queue, resource) {
					return fmt.Sprintf("Kueue can never let JobSet %s in: its pods ask for %s, and ClusterQueue %s covers only %s",
						j.Name, resource, queue.Name, text.List(snapshot.Covered(queue)))
				}
			}
		}
	}
	return ""
}

// Reasons of QuotaReserved=False with which Kueue says that it has not decided.
var undecided = []string{
	"Waiting",
	kueuev1.WorkloadQuotaReservedReasonPendingEvaluation,
	kueuev1.WorkloadQuotaReservedReasonWaitingForPodsReady,
	kueuev1.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads,
}

// blockedByKueue is Kueue's own word that it does not let the JobSet in. Nothing in
// the lab gives quota back by itself: its pods run until somebody ends them.
func blockedByKueue(j snapshot.JobSet) string {
	workload := j.Workload()
	if !waitsForQuota(j) || workload.Live == nil {
		return ""
	}
	reserved := workload.Condition(kueuev1.WorkloadQuotaReserved)
	if reserved == nil || reserved.Status == metav1.ConditionTrue || slices.Contains(undecided, reserved.Reason) {
		return ""
	}
	return fmt.Sprintf("Kueue does not let JobSet %s in%s", j.Name, workload.Because())
}

// blockedByPodCreation finds a Job that lacks pods because the API server refuses to
// create them. The Job controller tries again, but each time later.
func blockedByPodCreation(j snapshot.JobSet) string {
	for _, job := range j.Jobs() {
		if ptr.Deref(job.Spec.Suspend, false) || podsOf(j, &job) >= ptr.Deref(job.Spec.Parallelism, 1) {
			continue
		}
		for _, event := range slices.Backward(j.Snapshot.Events) {
			if event.UID == job.UID && event.Reason == "FailedCreate" {
				return fmt.Sprintf("the pods of Job %s cannot be created: %s", job.Name, strings.TrimSuffix(event.Message, "."))
			}
		}
	}
	return ""
}

// podsOf counts a Job's pods, those that have ended too.
func podsOf(j snapshot.JobSet, job *batchv1.Job) int32 {
	var pods int32
	for _, pod := range j.Snapshot.Pods {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.UID == job.UID {
			pods++
		}
	}
	return pods
}

// blockedByScheduler finds a pod for which there is no room on any node. A pod that
// is gated is not looked at by the scheduler, and so not one of these.
func blockedByScheduler(j snapshot.JobSet) string {
	pods := j.Pods().Items
	for i := range pods {
		for _, condition := range pods[i].Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable {
				return fmt.Sprintf("pod %s has no node to run on: %s", pods[i].Name, strings.TrimSuffix(condition.Message, "."))
			}
		}
	}
	return ""
}
