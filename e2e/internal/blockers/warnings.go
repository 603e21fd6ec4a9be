package blockers

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// harmless are warnings beside which an object goes on, and those of what a step asks for.
var harmless = []string{
	"DNSConfigForming", "FailedToRetrieveImagePullSecret", "InvalidEnvironmentVariableNames",
	"RestartJobSetFailurePolicyAction", "BackoffLimitExceeded", "DefaultFailurePolicy", "Suspended", "Pending",
}

// warningLasts is how long after a warning the same may still be the case: the kubelet tries
// some things again only every two minutes.
const warningLasts = 3 * time.Minute

// noProgress are Normal events that a pod which does not get anywhere has too.
var noProgress = []string{"SandboxChanged", "Killing"}

// blockedByPodWarning finds a pod on its way that is warned of again and again, and
// with which nothing else happens: its network cannot be set up, a volume not be mounted,
// or whatever else the kubelet has to say.
func blockedByPodWarning(j snapshot.JobSet) Blocker {
	for _, pod := range onTheWay(j) {
		starts := pod.Status.Phase == corev1.PodPending && pod.Spec.NodeName != ""
		says := "does not get on"
		if starts {
			says = "cannot start"
		}
		if held := warnedOf(j, pod.UID, "pod "+pod.Name+" "+says); held.Code != "" {
			held.Learner, held.Since = warningIsLearners(j, held.Message), pod.CreationTimestamp.Time
			if starts {
				held.Code, held.For = BlockedStart, max(held.For, kubeletTriedAgain)
			}
			return held
		}
	}
	return Blocker{}
}

// blockedByOtherWarning is the same for the JobSet's Jobs, its Workload and itself.
func blockedByOtherWarning(j snapshot.JobSet) Blocker {
	if ended(j) || len(onTheWay(j)) > 0 {
		return Blocker{}
	}
	for _, job := range j.Jobs() {
		if !jobEnded(&job) {
			if held := warnedOf(j, job.UID, "Job "+job.Name+" does not get on"); held.Code != "" {
				return held
			}
		}
	}
	for _, workload := range j.Workloads() {
		if held := warnedOf(j, workload.UID, "Workload "+workload.Name+" does not get on"); held.Code != "" {
			return held
		}
	}
	held := warnedOf(j, j.Live.UID, "JobSet "+j.Name+" does not get on")
	if held.For == reportedOnce && !lacksJobs(j) {
		return Blocker{}
	}
	return held
}

// warnedOf is the last warning of an object, unless something was reported since that shows
// that it got on: of a JobSet, of anything that is its.
func warnedOf(j snapshot.JobSet, uid types.UID, says string) Blocker {
	now := j.Snapshot.Taken.Sub(j.Snapshot.Seen.Since).Seconds()
	gotOn := func(event snapshot.Event) bool {
		seen, known := j.Snapshot.Seen.Of(event.UID)
		return event.UID == uid || uid == j.Live.UID && known && seen.JobSet == j.Name
	}
	progress := math.Inf(-1)
	for _, event := range slices.Backward(j.Snapshot.Events) {
		switch {
		case slices.Contains(harmless, event.Reason):
		case event.Type != corev1.EventTypeWarning:
			if gotOn(event) && !slices.Contains(noProgress, event.Reason) {
				progress = max(progress, event.At)
			}
		case event.UID == uid:
			// Some events have whole seconds, so what came in the same one may have been before.
			if event.At < progress-1 || !j.Snapshot.Seen.Since.IsZero() && now-event.At > warningLasts.Seconds() {
				return Blocker{}
			}
			held := Blocker{Code: BlockedByWarning, For: reportedOnce,
				Message: fmt.Sprintf("%s: %s", says, text.ReasonAndMessage(event.Reason, strings.TrimSuffix(event.Message, ".")))}
			if times(j, event) > 1 {
				held.For = permanentAfter
			}
			return held
		}
	}
	return Blocker{}
}

// times is how often an object was warned of for the reason of the event.
func times(j snapshot.JobSet, of snapshot.Event) int {
	count := 0
	for _, event := range j.Snapshot.Events {
		if event.UID == of.UID && event.Reason == of.Reason {
			count += max(1, int(event.Count))
		}
	}
	return count
}

// warningIsLearners tells by the kubelet's words whether the pod lacks what its own
// manifest names: a volume of the manifest's, or its own probe's answer.
func warningIsLearners(j snapshot.JobSet, says string) bool {
	if strings.Contains(says, "Unhealthy") || strings.Contains(says, "BackOff") {
		return true
	}
	for _, spec := range templates(j) {
		for _, volume := range spec.Volumes {
			if strings.Contains(says, fmt.Sprintf("%q", volume.Name)) {
				return true
			}
		}
	}
	return false
}
