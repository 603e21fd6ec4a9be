package blockers

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// blockedByPodCreation finds a Job that lacks pods because the API server refuses to
// create them. The Job controller tries again, but each time later.
func blockedByPodCreation(j snapshot.JobSet) Blocker {
	for _, job := range j.Jobs() {
		if ptr.Deref(job.Spec.Suspend, false) || podsOf(j, &job) >= ptr.Deref(job.Spec.Parallelism, 1) {
			continue
		}
		for _, event := range slices.Backward(j.Snapshot.Events) {
			if event.UID == job.UID && event.Reason == "FailedCreate" {
				learner := strings.Contains(event.Message, "is invalid") || strings.Contains(event.Message, "PodSecurity") && hasPrivileges(j)
				return Blocker{Code: BlockedCreation, Since: job.CreationTimestamp.Time, Learner: learner,
					Message: fmt.Sprintf("the pods of Job %s cannot be created: %s", job.Name, strings.TrimSuffix(event.Message, "."))}
			}
		}
	}
	return Blocker{}
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

// onTheWay are the JobSet's present pods that neither run as they should nor have ended.
func onTheWay(j snapshot.JobSet) []corev1.Pod {
	return slices.DeleteFunc(j.Pods().Items, func(pod corev1.Pod) bool {
		return snapshot.IsRunningAndReady(&pod) || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
}

// blockedByScheduler finds a pod that the scheduler does not place: there is no room, or
// somebody else's gate is in its way.
func blockedByScheduler(j snapshot.JobSet) Blocker {
	for _, pod := range onTheWay(j) {
		for _, condition := range pod.Status.Conditions {
			switch {
			case condition.Type != corev1.PodScheduled || condition.Status != corev1.ConditionFalse:
			case condition.Reason == corev1.PodReasonSchedulingGated:
				for _, gate := range pod.Spec.SchedulingGates {
					if !strings.HasPrefix(gate.Name, "kueue.x-k8s.io/") {
						return Blocker{Code: BlockedScheduler, Since: pod.CreationTimestamp.Time, Message: fmt.Sprintf("pod %s is not scheduled before somebody takes its gate %s away", pod.Name, gate.Name)}
					}
				}
			default:
				return Blocker{Code: BlockedScheduler, Since: pod.CreationTimestamp.Time, Learner: unplacedByLearner(j, condition.Message),
					Message: fmt.Sprintf("pod %s has no node to run on: %s", pod.Name, strings.TrimSuffix(condition.Message, "."))}
			}
		}
	}
	return Blocker{}
}

// unplacedByLearner tells by the scheduler's words whether the JobSet asks for what no
// lab has.
func unplacedByLearner(j snapshot.JobSet, says string) bool {
	switch {
	case strings.Contains(says, "Insufficient "+j.Snapshot.GPUResource):
		return !fewGPUs(j)
	case strings.Contains(says, "Insufficient cpu"):
		return asksFor(j, corev1.ResourceCPU)
	case strings.Contains(says, "Insufficient memory"):
		return asksFor(j, corev1.ResourceMemory)
	case strings.Contains(says, "Insufficient ephemeral-storage"):
		return asksFor(j, corev1.ResourceEphemeralStorage)
	case strings.Contains(says, "taint"), strings.Contains(says, "unschedulable"):
		return false
	case strings.Contains(says, "Insufficient "):
		return true // a resource that the lab does not promise
	}
	return asksToBePlaced(j)
}

// What a container runtime calls a container that never ran.
var neverRan = []string{"StartError", "ContainerCannotRun", "CreateContainerError", "RunContainerError"}

// blockedByPodStart finds a pod of which a container does not start, or ends each time:
// no image, no such command, no such configuration, a device that is not given.
func blockedByPodStart(j snapshot.JobSet) Blocker {
	for _, pod := range onTheWay(j) {
		for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if says := notStarted(container); says != "" {
				return Blocker{Code: BlockedStart, For: kubeletTriedAgain, Since: pod.CreationTimestamp.Time, Learner: startIsLearners(&pod, container, says),
					Message: fmt.Sprintf("pod %s cannot start: %s", pod.Name, says)}
			}
		}
	}
	return Blocker{}
}

// notStarted is why a container does not run, in the words of the kubelet; empty if it
// runs, has ended, or is on its way for the first time.
func notStarted(container corev1.ContainerStatus) string {
	if container.State.Running != nil {
		return ""
	}
	var how string
	for _, end := range []*corev1.ContainerStateTerminated{container.State.Terminated, container.LastTerminationState.Terminated} {
		switch {
		case end == nil || how != "":
		case slices.Contains(neverRan, end.Reason):
			how = text.ReasonAndMessage(end.Reason, end.Message)
		case end.ExitCode != 0 && container.State.Waiting != nil:
			how = fmt.Sprintf("its program ended with exit code %d (%s)", end.ExitCode, end.Reason)
		}
	}
	waiting := container.State.Waiting
	switch {
	case waiting == nil || snapshot.IsOnItsWay(waiting.Reason):
		if how != "" && container.RestartCount > 0 || container.State.Terminated != nil && how != "" {
			return how
		}
		return ""
	case how != "" && waiting.Reason == "CrashLoopBackOff":
		return how + ", and it was started " + text.Times(int(container.RestartCount), "time") + " again"
	}
	return text.ReasonAndMessage(waiting.Reason, waiting.Message)
}

// startIsLearners tells whose it is that a container does not start.
func startIsLearners(pod *corev1.Pod, container corev1.ContainerStatus, says string) bool {
	reason := ""
	if container.State.Waiting != nil {
		reason = container.State.Waiting.Reason
	}
	switch {
	case strings.Contains(reason, "Image") || reason == "ErrImagePull":
		for _, spec := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if spec.Name == container.Name {
				return !isLabImage(spec.Image)
			}
		}
		return true
	case reason == "CreateContainerConfigError":
		return true // a ConfigMap, Secret or user that the manifest names
	case slices.ContainsFunc(neverRan, func(never string) bool { return strings.HasPrefix(says, never) }):
		return !asTheLabSays(pod, container.Name)
	}
	return true // its own program ends
}

// Reasons with which the kubelet fails a pod for something that its own spec says.
var ownFault = []string{"DeadlineExceeded", "PodLevelResourcesExceeded"}

// disruptions are the events with which a pod is taken away that did nothing wrong.
var disruptions = []string{"Preempted", "Evicted", "TaintManagerEviction", "EvictionByEvictionAPI", "NodeShutdown"}

// blockedByDisruption finds a place in the JobSet that nobody holds since its pod was
// evicted, preempted or not admitted by the kubelet.
func blockedByDisruption(j snapshot.JobSet) Blocker {
	places := map[string]bool{}
	for _, rank := range j.Ranks() {
		places[rank] = true
	}
	all := j.AllPods()
	for _, pod := range all {
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed && pod.Spec.NodeName != "" {
			delete(places, snapshot.RankOf(&pod))
		}
	}
	if len(places) == 0 || j.Suspended() {
		return Blocker{}
	}
	for _, pod := range slices.Backward(all) {
		if !places[snapshot.RankOf(&pod)] {
			continue
		}
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
			own := slices.Contains(ownFault, pod.Status.Reason) || strings.Contains(pod.Status.Message, "ephemeral local storage usage exceeds")
			return Blocker{Code: BlockedDisruption, Since: pod.CreationTimestamp.Time, Learner: own,
				Message: fmt.Sprintf("pod %s was taken away: %s", pod.Name, text.ReasonAndMessage(pod.Status.Reason, pod.Status.Message))}
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
				return Blocker{Code: BlockedDisruption, Message: fmt.Sprintf("pod %s was taken away: %s", pod.Name, text.ReasonAndMessage(condition.Reason, condition.Message))}
			}
		}
	}
	for _, event := range slices.Backward(j.Snapshot.Events) {
		if seen, known := j.Snapshot.Seen.Of(event.UID); known && seen.Kind == "Pod" && seen.JobSet == j.Name && slices.Contains(disruptions, event.Reason) {
			return Blocker{Code: BlockedDisruption, Message: fmt.Sprintf("pod %s was taken away: %s", seen.Name, text.ReasonAndMessage(event.Reason, event.Message))}
		}
	}
	return Blocker{}
}

// blockedByNode finds a pod on a node that does not work.
func blockedByNode(j snapshot.JobSet) Blocker {
	for _, pod := range onTheWay(j) {
		for _, node := range j.Snapshot.Nodes {
			if node.NotReady != "" && (node.Name == pod.Spec.NodeName || len(j.Snapshot.Nodes) == 1) {
				return Blocker{Code: BlockedNode, Since: pod.CreationTimestamp.Time, Message: fmt.Sprintf("node %s, on which pod %s is to run, is not Ready: %s", node.Name, pod.Name, node.NotReady)}
			}
		}
	}
	return Blocker{}
}
