package snapshot

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// A stateField is one side of an object's state that changes by itself: a pod's
// phase, say, or whether a JobSet is suspended.
type stateField struct {
	name, state, text string
	// rest marks a state that every object starts in and nobody asks about.
	initial bool
}

func kindOf(object client.Object) string {
	switch object.(type) {
	case *jobsetv1.JobSet:
		return "JobSet"
	case *batchv1.Job:
		return "Job"
	case *corev1.Pod:
		return "Pod"
	case *kueuev1.Workload:
		return "Workload"
	}
	return ""
}

// newObjectHistory says what an object is and where it belongs.
func newObjectHistory(kind string, object client.Object) ObjectHistory {
	labels := object.GetLabels()
	sighting := ObjectHistory{
		Kind:    kind,
		Name:    object.GetName(),
		UID:     object.GetUID(),
		JobSet:  jobSetOf(kind, object),
		Role:    labels[jobsetv1.ReplicatedJobNameKey],
		Index:   labels[batchv1.JobCompletionIndexAnnotation],
		Attempt: labels[RestartAttemptLabel],
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		sighting.Owner = owner.Kind + "/" + owner.Name
	}
	return sighting
}

// jobSetOf names the JobSet that an object is, that it belongs to by its labels or, of a
// Workload or a Service, that owns it; empty if there is none.
func jobSetOf(kind string, object client.Object) string {
	if kind == "JobSet" {
		return object.GetName()
	}
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "JobSet" && kind != "Job" {
		return owner.Name
	}
	return object.GetLabels()[jobsetv1.JobSetNameKey]
}

func stateFieldsOf(object client.Object) []stateField {
	aspects := []stateField{{name: "deleted", initial: true, state: "Present"}}
	if object.GetDeletionTimestamp() != nil {
		aspects[0] = stateField{name: "deleted", state: stateTerminating}
	}
	switch o := object.(type) {
	case *corev1.Pod:
		return append(aspects, podStateFields(o)...)
	case *batchv1.Job:
		aspects = append(aspects, suspension(o.Spec.Suspend))
		for _, condition := range o.Status.Conditions {
			if condition.Status == corev1.ConditionTrue && condition.Type != batchv1.JobSuspended {
				aspects = append(aspects, stateField{name: string(condition.Type), state: string(condition.Type),
					text: text.ReasonAndMessage(condition.Reason, condition.Message)})
			}
		}
	case *jobsetv1.JobSet:
		aspects = append(aspects, suspension(o.Spec.Suspend), stateField{name: "restarts", state: "Restarts",
			text: fmt.Sprint(o.Status.Restarts), initial: o.Status.Restarts == 0})
		for _, condition := range o.Status.Conditions {
			if condition.Status == metav1.ConditionTrue && condition.Type != string(jobsetv1.JobSetSuspended) {
				aspects = append(aspects, stateField{name: condition.Type, state: condition.Type,
					text: text.ReasonAndMessage(condition.Reason, condition.Message)})
			}
		}
	case *kueuev1.Workload:
		if reserved := meta.FindStatusCondition(o.Status.Conditions, kueuev1.WorkloadQuotaReserved); reserved != nil {
			quota := stateField{name: "quota", state: "QuotaReserved", text: text.ReasonAndMessage(reserved.Reason, reserved.Message)}
			if reserved.Status != metav1.ConditionTrue {
				quota.state = stateNoQuota
			}
			aspects = append(aspects, quota)
		}
		for _, kind := range []string{kueuev1.WorkloadAdmitted, kueuev1.WorkloadEvicted, kueuev1.WorkloadFinished} {
			if met := meta.FindStatusCondition(o.Status.Conditions, kind); met != nil && met.Status == metav1.ConditionTrue {
				aspects = append(aspects, stateField{name: kind, state: kind, text: text.ReasonAndMessage(met.Reason, met.Message)})
			}
		}
	}
	return aspects
}

func podStateFields(pod *corev1.Pod) []stateField {
	aspects := []stateField{{name: "phase", state: string(pod.Status.Phase), text: exitOf(pod)}}
	ready := stateField{name: "ready", state: "NotReady", initial: true}
	if isReady(pod) {
		ready = stateField{name: "ready", state: "Ready"}
	}
	aspects = append(aspects, ready)
	if reason, _ := WaitingReason(pod); reason != "" {
		aspects = append(aspects, stateField{name: "waiting", state: "Waiting", text: reason})
	}
	if message := Unschedulable(pod); message != "" {
		aspects = append(aspects, stateField{name: "scheduled", state: "Unschedulable", text: message})
	}
	return aspects
}

func suspension(suspend *bool) stateField {
	if suspend != nil && *suspend {
		return stateField{name: "suspend", state: "Suspended"}
	}
	return stateField{name: "suspend", state: "Resumed", initial: true}
}
