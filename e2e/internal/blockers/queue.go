package blockers

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// waitsForQuota tells a JobSet in a queue that Kueue has not let in.
func waitsForQuota(j snapshot.JobSet) bool {
	return j.Queue() != "" && j.Suspended() && !j.Workload().IsNow(kueuev1.WorkloadQuotaReserved)
}

// blockedByQueue finds the queue that the JobSet names missing, or not working.
func blockedByQueue(j snapshot.JobSet) Blocker {
	if !waitsForQuota(j) {
		return Blocker{}
	}
	queue := localQueue(j)
	if queue == nil {
		return Blocker{Code: BlockedQueue, Learner: j.Queue() != pins().LocalQueue,
			Message: fmt.Sprintf("JobSet %s waits in LocalQueue %s, and there is none of that name in %s", j.Name, j.Queue(), j.Snapshot.Namespace)}
	}
	if idle := snapshot.Active(queue.Status.Conditions); idle != "" {
		return Blocker{Code: BlockedQueue, Message: fmt.Sprintf("JobSet %s waits in LocalQueue %s, which leads to ClusterQueue %s and lets nobody in: %s",
			j.Name, queue.Name, queue.Spec.ClusterQueue, idle)}
	}
	return Blocker{}
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
func blockedByCoverage(j snapshot.JobSet) Blocker {
	queue := j.Snapshot.ClusterQueue
	workload := j.Workload()
	if !waitsForQuota(j) || queue == nil || workload.Live == nil || workload.Condition(kueuev1.WorkloadQuotaReserved) == nil {
		return Blocker{}
	}
	if local := localQueue(j); local == nil || string(local.Spec.ClusterQueue) != queue.Name {
		return Blocker{}
	}
	for _, podSet := range workload.Live.Spec.PodSets {
		for _, container := range podSet.Template.Spec.Containers {
			for resource := range container.Resources.Requests {
				if !snapshot.Covers(queue, resource) {
					return Blocker{Code: BlockedCoverage, Learner: asksFor(j, resource), Message: fmt.Sprintf("Kueue can never let JobSet %s in: its pods ask for %s, and ClusterQueue %s covers only %s",
						j.Name, resource, queue.Name, text.List(snapshot.Covered(queue)))}
				}
			}
		}
	}
	return Blocker{}
}

// blockedByDeactivation finds a Workload that Kueue leaves out until somebody activates it.
func blockedByDeactivation(j snapshot.JobSet) Blocker {
	workload := j.Workload()
	if workload.Live == nil || ptr.Deref(workload.Live.Spec.Active, true) {
		return Blocker{}
	}
	says := fmt.Sprintf("Workload %s is deactivated, so Kueue does not let JobSet %s in (spec.active is false)", workload.Live.Name, j.Name)
	if workload.IsNow(kueuev1.WorkloadEvicted) {
		says += ": " + workload.ConditionText(kueuev1.WorkloadEvicted)
	}
	return Blocker{Code: BlockedWorkload, Message: says}
}

// blockedByAdmissionCheck finds a Workload that has its quota and is not admitted.
func blockedByAdmissionCheck(j snapshot.JobSet) Blocker {
	workload := j.Workload()
	if workload.Live == nil || !workload.IsNow(kueuev1.WorkloadQuotaReserved) || workload.IsNow(kueuev1.WorkloadAdmitted) {
		return Blocker{}
	}
	for _, check := range workload.Live.Status.AdmissionChecks {
		if check.State != kueuev1.CheckStateReady {
			return Blocker{Code: BlockedCheck, Message: fmt.Sprintf("JobSet %s has its quota and waits for AdmissionCheck %s: %s",
				j.Name, check.Name, text.ReasonAndMessage(string(check.State), check.Message))}
		}
	}
	return Blocker{}
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
func blockedByKueue(j snapshot.JobSet) Blocker {
	workload := j.Workload()
	if !waitsForQuota(j) || workload.Live == nil {
		return Blocker{}
	}
	reserved := workload.Condition(kueuev1.WorkloadQuotaReserved)
	if reserved == nil || reserved.Status == metav1.ConditionTrue || slices.Contains(undecided, reserved.Reason) {
		return Blocker{}
	}
	says := fmt.Sprintf("Kueue does not let JobSet %s in%s", j.Name, workload.Because())
	if evicted := workload.Condition(kueuev1.WorkloadEvicted); evicted != nil && evicted.Status == metav1.ConditionTrue && evicted.Message != reserved.Message {
		says = fmt.Sprintf("Kueue put JobSet %s out again: %s", j.Name, text.ReasonAndMessage(evicted.Reason, evicted.Message))
	}
	return Blocker{Code: BlockedKueue, Learner: !quotaTaken(j), Message: says}
}

// quotaTaken reports whether it is the lab's that the JobSet is not let in: its
// ClusterQueue has less quota than the lab promises, or JobSets of others hold it.
func quotaTaken(j snapshot.JobSet) bool {
	queue, gpu := j.Snapshot.ClusterQueue, j.Snapshot.GPUResource
	if queue == nil {
		return true
	}
	if (snapshot.Queue{Live: queue}).Quota(gpu) < pins().Quota {
		return true
	}
	var used, own resource.Quantity
	for _, flavor := range queue.Status.FlavorsReservation {
		for _, r := range flavor.Resources {
			if string(r.Name) == gpu {
				used.Add(r.Total)
			}
		}
	}
	for _, workload := range j.Snapshot.Workloads {
		if workload.Status.Admission == nil {
			continue
		}
		for _, assigned := range workload.Status.Admission.PodSetAssignments {
			for name, amount := range assigned.ResourceUsage {
				if string(name) == gpu {
					own.Add(amount)
				}
			}
		}
	}
	return used.Cmp(own) > 0
}
