package snapshot

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What containerd and CRI-O report of a container that was gone when they came back:
// nobody was there to see how it ended.
const (
	lostExitCode = 255
	lostReason   = "Unknown"
)

// restartTakes is how far apart the ends of containers are that went down with one node.
const restartTakes = 30 * time.Second

// NodeRestarted says when the lab's node last went down and came back under the pods of
// the namespace. Every container of such a node ends at the same moment, unseen by its
// runtime, and none of them runs on: one container that was started before and still runs
// proves that the node did not go down. It is false where no pod of that time is left.
func (s *Snapshot) NodeRestarted() (at time.Time, restarted bool) {
	for i := range s.Pods {
		for _, end := range lostContainers(&s.Pods[i]) {
			if end.After(at) {
				at = end
			}
		}
	}
	if at.IsZero() {
		return at, false
	}
	for i := range s.Pods {
		if survived(&s.Pods[i], at.Add(-restartTakes)) {
			return time.Time{}, false
		}
	}
	return at, true
}

// WentDownWithNode reports whether one of the pod's containers ended with the node.
func (s *Snapshot) WentDownWithNode(pod *corev1.Pod) bool {
	at, restarted := s.NodeRestarted()
	for _, end := range lostContainers(pod) {
		if restarted && at.Sub(end) <= restartTakes {
			return true
		}
	}
	return false
}

// lostContainers are the times at which containers of the pod ended without anybody's
// seeing how. A container that ended in any other way is none: its program did that.
func lostContainers(pod *corev1.Pod) []time.Time {
	var ends []time.Time
	for _, containers := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, container := range containers {
			for _, state := range []corev1.ContainerState{container.State, container.LastTerminationState} {
				if end := state.Terminated; end != nil && end.ExitCode == lostExitCode && end.Reason == lostReason {
					ends = append(ends, end.FinishedAt.Time)
				}
			}
		}
	}
	return ends
}

// survived reports whether a container of the pod has run since before that time.
func survived(pod *corev1.Pod, since time.Time) bool {
	for _, container := range pod.Status.ContainerStatuses {
		if running := container.State.Running; running != nil && running.StartedAt.Time.Before(since) {
			return true
		}
	}
	return false
}
