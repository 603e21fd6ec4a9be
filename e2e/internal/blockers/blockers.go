// Package blockers finds in a snapshot why a wait cannot end.
package blockers

import (
	"fmt"
	"time"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// How long a state that can pass must stay before it is taken to stay for good.
// Each passes within a second or two where nothing is wrong.
const (
	// The scheduler tries a pod again at most ten seconds after something changed
	// for it, and Kueue and the Job controller are no slower at first.
	permanentAfter = 15 * time.Second
	// The kubelet tries again after ten seconds what failed with a pod, and then
	// after twenty: this is one try more than what passes by itself.
	kubeletTriedAgain = 18 * time.Second
	// A controller that was killed is back and leads again in less.
	ControllerBackWithin = 20 * time.Second
	// One that somebody switched off is not, unless it is being replaced.
	ScaledDownAfter = 5 * time.Second
	// A lookup gives up after some five seconds, so this is two of them.
	unansweredAfter = 10 * time.Second
	// A name that was asked for too early is taken for none for as long as DNS remembers
	// that: some seconds, and no more than 30.
	unknownAfter = 25 * time.Second
	// What is reported once and not again may pass, so it is waited for twice as long.
	reportedOnce = 2 * permanentAfter
)

// A Blocker is what keeps a JobSet from going on and does not pass by itself.
type Blocker struct {
	Code snapshot.Code `json:"code"`
	// JobSet is the blocked one; empty where the Blocker is of the whole lab.
	JobSet  string `json:"jobSet,omitempty"`
	Message string `json:"message"`
	// For is how long it must be there to be taken for permanent.
	For time.Duration `json:"-"`
	// Since is when that what is held up was made: a look that has no past can tell by it
	// whether a state that could pass has had its time.
	Since time.Time `json:"-"`
	// Learner says that what the JobSet asks for brings it about, and not the lab.
	Learner bool `json:"-"`
}

// Codes of Blockers.
const (
	BlockedDNS              snapshot.Code = "DNSUnanswered"
	BlockedName             snapshot.Code = "DNSNameUnknown"
	BlockedExec             snapshot.Code = "ExecRefused"
	BlockedJobSetController snapshot.Code = "JobSetControllerUnavailable"
	BlockedKueueController  snapshot.Code = "KueueControllerUnavailable"
	BlockedNode             snapshot.Code = "NodeNotReady"
	BlockedQueue            snapshot.Code = "QueueNotAdmitting"
	BlockedCoverage         snapshot.Code = "ResourceNotCovered"
	BlockedWorkload         snapshot.Code = "WorkloadDeactivated"
	BlockedCheck            snapshot.Code = "AdmissionCheckNotReady"
	BlockedKueue            snapshot.Code = "NotAdmitted"
	BlockedCreation         snapshot.Code = "PodCreationRefused"
	BlockedScheduler        snapshot.Code = "PodUnschedulable"
	BlockedStart            snapshot.Code = "PodCannotStart"
	BlockedDisruption       snapshot.Code = "PodDisrupted"
	BlockedNoJobs           snapshot.Code = "JobsNotCreated"
	BlockedByWarning        snapshot.Code = "WarningRepeated"
	BlockedDeletion         snapshot.Code = "JobSetDeleted"
	SilentScheduler         snapshot.Code = "SchedulerSilent"
	SilentKubelet           snapshot.Code = "KubeletSilent"
	SilentJobController     snapshot.Code = "JobControllerSilent"
	SilentJobSetController  snapshot.Code = "JobSetControllerSilent"
	SilentKueue             snapshot.Code = "KueueSilent"
	EndedJobSet             snapshot.Code = "JobSetEnded"
	EndedPod                snapshot.Code = BlockedStart
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
	if s.NameUnknown != "" {
		return Blocker{Code: BlockedName, Message: s.NameUnknown, For: unknownAfter}
	}
	if s.ExecRefused != "" {
		return Blocker{Code: BlockedExec, Message: s.ExecRefused, For: ScaledDownAfter}
	}
	for _, name := range jobSets {
		if held := findOf(s.JobSet(name)); held.Code != "" {
			held.JobSet = name
			if held.For == 0 {
				held.For = permanentAfter
			}
			return held
		}
	}
	return Blocker{}
}

func findOf(j snapshot.JobSet) Blocker {
	if j.Live == nil || j.Live.DeletionTimestamp != nil {
		return deleted(j)
	}
	for _, by := range []func(snapshot.JobSet) Blocker{
		blockedByController, blockedByNode,
		blockedByQueue, blockedByCoverage, blockedByDeactivation, blockedByAdmissionCheck, blockedByKueue,
		blockedByPodCreation, blockedByScheduler, blockedByPodStart, blockedByDisruption,
		// What nobody thought of is reported by its repeated warnings, and what says nothing
		// by whose turn it is.
		blockedByPodWarning, blockedWithoutJobs, blockedByOtherWarning,
		silentScheduler, silentKubelet, silentJobController, silentJobSetController, silentKueue,
	} {
		if held := by(j); held.Code != "" {
			if held.Since.IsZero() {
				held.Since = j.Live.CreationTimestamp.Time
			}
			return held
		}
	}
	return Blocker{}
}

// deleted reports a JobSet that was there while this run looked and is deleted.
func deleted(j snapshot.JobSet) Blocker {
	for _, seen := range j.Snapshot.Seen.Ever("JobSet", j.Name) {
		if seen.Reached(snapshot.StateGone) || j.Live != nil && seen.UID == j.Live.UID {
			return Blocker{Code: BlockedDeletion, For: ScaledDownAfter, Message: fmt.Sprintf(
				"JobSet %s was deleted while it was waited for; somebody else did that, or namespace %s is being deleted", j.Name, j.Snapshot.Namespace)}
		}
	}
	return Blocker{}
}
