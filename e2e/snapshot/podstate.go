package snapshot

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// RoleOf is the replicatedJob that a pod belongs to.
func RoleOf(pod *corev1.Pod) string { return pod.Labels[jobsetv1.ReplicatedJobNameKey] }

// RestartAttemptLabel is set by the JobSet controller on Jobs and pods. The API
// package has no name for it; the controller's pkg/constants calls it RestartsKey.
const RestartAttemptLabel = "jobset.sigs.k8s.io/restart-attempt"

// Waiting reasons of a container that is only on its way.
var onItsWay = map[string]bool{"": true, "ContainerCreating": true, "PodInitializing": true}

// IsOnItsWay reports whether a container that waits for this reason is only on its way.
func IsOnItsWay(reason string) bool { return onItsWay[reason] }

// RankOf names a pod by its place in the JobSet, as its hostname does without
// the JobSet's name: worker-0-1 is completion index 1 of the first worker Job. All pods of
// a NonIndexed Job have the one place worker-0.
func RankOf(pod *corev1.Pod) string {
	job := pod.Labels[jobsetv1.ReplicatedJobNameKey] + "-" + pod.Labels[jobsetv1.JobIndexKey]
	if index, indexed := pod.Labels[batchv1.JobCompletionIndexAnnotation]; indexed {
		return job + "-" + index
	}
	return job
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// isDead reports whether a pod has ended or is lost: it never runs again.
func isDead(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodUnknown
}

// IsRunningAndReady reports whether a pod is Running and Ready now.
func IsRunningAndReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && isReady(pod)
}

// steadyAfter is how long a container that was started again must have run since.
const steadyAfter = 10 * time.Second

// Runs is what the lab text means by a pod that runs: Running, Ready, and with no
// container that goes on failing. One that was started again once, and has run since, or
// that went down with its node, is none.
func (s *Snapshot) Runs(pod *corev1.Pod) bool {
	if !IsRunningAndReady(pod) {
		return false
	}
	return s.RunsUnbroken(pod) || !slices.ContainsFunc(lasting(pod), func(c corev1.ContainerStatus) bool {
		return c.RestartCount > 1 || c.RestartCount == 1 &&
			(c.State.Running == nil || c.State.Running.StartedAt.IsZero() || s.Taken.Sub(c.State.Running.StartedAt.Time) < steadyAfter)
	})
}

// RunsUnbroken is the same of a pod that must not have started a container again, but
// with its node.
func (s *Snapshot) RunsUnbroken(pod *corev1.Pod) bool {
	return IsRunningAndReady(pod) && (ContainerRestarts(pod) == 0 || s.WentDownWithNode(pod))
}

// ContainerRestarts adds up how often the containers that should last were started again.
func ContainerRestarts(pod *corev1.Pod) int32 {
	var restarts int32
	for _, container := range lasting(pod) {
		restarts += container.RestartCount
	}
	return restarts
}

// lasting are the containers that run as long as the pod: its own and its sidecars. An
// ordinary init container may well try until it succeeds.
func lasting(pod *corev1.Pod) []corev1.ContainerStatus {
	all := slices.Clone(pod.Status.ContainerStatuses)
	for _, status := range pod.Status.InitContainerStatuses {
		if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == status.Name && IsSidecar(c) }) {
			all = append(all, status)
		}
	}
	return all
}

// IsSidecar tells an init container that runs beside the others from one that ends before.
func IsSidecar(container corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// WaitingReason returns why a container does not start, if it is more than
// being on its way, and what the kubelet says with it.
func WaitingReason(pod *corev1.Pod) (reason, message string) {
	for _, container := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if waiting := container.State.Waiting; waiting != nil && !onItsWay[waiting.Reason] {
			return waiting.Reason, waiting.Message
		}
	}
	return "", ""
}

// Unschedulable returns the scheduler's words, or nothing if it has placed the
// pod or not looked yet.
func Unschedulable(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return text.ReasonAndMessage(condition.Reason, condition.Message)
		}
	}
	return ""
}

// exitOf tells how a pod's container ended.
func exitOf(pod *corev1.Pod) string {
	for _, container := range pod.Status.ContainerStatuses {
		if ended := container.State.Terminated; ended != nil {
			return fmt.Sprintf("exit code %d", ended.ExitCode)
		}
	}
	return ""
}

// PodState tells a pod's state as kubectl's STATUS column would, and why.
func PodState(pod *corev1.Pod) string {
	reason, message := WaitingReason(pod)
	switch {
	case pod.DeletionTimestamp != nil:
		return "Terminating"
	case reason != "":
		return text.ReasonAndMessage(reason, message)
	case Unschedulable(pod) != "":
		return "Pending, " + Unschedulable(pod)
	case pod.Status.Phase == corev1.PodRunning && ContainerRestarts(pod) == 1:
		return "Running, its container was restarted once"
	case pod.Status.Phase == corev1.PodRunning && ContainerRestarts(pod) > 1:
		return fmt.Sprintf("Running, its container was restarted %d times", ContainerRestarts(pod))
	case pod.Status.Phase == corev1.PodRunning && !isReady(pod):
		return "Running, not ready"
	case exitOf(pod) != "":
		return fmt.Sprintf("%s, %s", pod.Status.Phase, exitOf(pod))
	}
	return string(pod.Status.Phase)
}

// StatusOf is the one word that kubectl's STATUS column has for a pod and, where that is
// Running and not enough, the number in its READY column.
func StatusOf(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "Terminating"
	}
	reason, _ := WaitingReason(pod)
	if reason == "" && pod.Status.Phase == corev1.PodRunning && !isReady(pod) {
		ready := slices.DeleteFunc(lasting(pod), func(c corev1.ContainerStatus) bool { return !c.Ready })
		return fmt.Sprintf("Running, READY %d/%d", len(ready), len(lasting(pod)))
	}
	return text.Or(reason, string(pod.Status.Phase))
}
