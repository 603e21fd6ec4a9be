package blockers

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// blockedByController finds a controller that is away and that has something to do
// for the JobSet. One that was switched off does not come back by itself, one
// that fell over does. What runs already runs on without either.
func blockedByController(j snapshot.JobSet) Blocker {
	for _, controller := range j.Snapshot.Controllers {
		needed := lacksJobs(j) || blockedByPodCreation(j).Code != "" || hasEndingJob(j)
		if controller.Name == "Kueue" {
			needed = needed || waitsForQuota(j)
		} else {
			needed = needed || awaitsReaction(j)
		}
		if !controller.Available && needed {
			return away(controller)
		}
	}
	return Blocker{}
}

// lacksJobs says that not every Job of the JobSet's roles exists.
func lacksJobs(j snapshot.JobSet) bool {
	var wanted int32
	for _, role := range j.Live.Spec.ReplicatedJobs {
		wanted += role.Replicas
	}
	return !ended(j) && len(j.Jobs()) < int(wanted)
}

// awaitsReaction says that the JobSet controller has not yet drawn the
// consequence of a Job's end, or of the JobSet's being let go or held.
func awaitsReaction(j snapshot.JobSet) bool {
	for _, job := range j.Jobs() {
		if jobEnded(&job) && !ended(j) || ptr.Deref(job.Spec.Suspend, false) != j.Suspended() {
			return true
		}
	}
	return false
}

// hasEndingJob says that a Job is to end and has not. The Job controller first
// lets go of its pods, and a webhook that nobody serves refuses it that.
func hasEndingJob(j snapshot.JobSet) bool {
	for _, job := range j.Jobs() {
		if jobIs(&job, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet) && !jobEnded(&job) {
			return true
		}
	}
	return false
}

func jobEnded(job *batchv1.Job) bool { return jobIs(job, batchv1.JobComplete, batchv1.JobFailed) }

// jobIs reports whether one of these conditions of a Job is true.
func jobIs(job *batchv1.Job, kinds ...batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(condition batchv1.JobCondition) bool {
		return slices.Contains(kinds, condition.Type) && condition.Status == corev1.ConditionTrue
	})
}

// ControllerAway finds a controller that is not available, whether or not a JobSet needs it now.
func ControllerAway(s *snapshot.Snapshot) Blocker {
	for _, controller := range s.Controllers {
		if !controller.Available {
			return away(controller)
		}
	}
	return Blocker{}
}

// away is the Blocker of a controller that is not available.
func away(controller snapshot.Controller) Blocker {
	held := Blocker{Code: BlockedJobSetController, For: ControllerBackWithin,
		Message: fmt.Sprintf("the %s controller does no work: Deployment %s is not available, %s", controller.Name, controller.Deployment, controller.Why)}
	if controller.Name == "Kueue" {
		held.Code = BlockedKueueController
	}
	if controller.Why == snapshot.ScaledToNone {
		held.For = ScaledDownAfter
	}
	return held
}
