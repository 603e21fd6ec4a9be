package lab

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// A Controller is whether one of the lab's two controllers is there to work.
type Controller struct {
	Name       string `json:"name"`       // JobSet or Kueue
	Deployment string `json:"deployment"` // namespace/name
	Available  bool   `json:"available"`
	Why        string `json:"why,omitempty"` // why it is not available
}

// scaledToNone is why a manager is not there that somebody switched off.
const scaledToNone = "it is scaled to 0"

// controllers looks after both, as far as they can be seen: where a reader's
// rights end at the namespace, nothing is known of them and nothing is said.
func (w *World) controllers(ctx context.Context) []Controller {
	ctx, cancel := brief(ctx)
	defer cancel()
	var deployments appsv1.DeploymentList
	if err := w.client.List(ctx, &deployments); err != nil {
		return nil
	}
	var found []Controller
	for _, part := range []struct{ name, image string }{{"JobSet", "jobset"}, {"Kueue", "kueue"}} {
		if manager := findManager(deployments.Items, part.image); manager.Deployment != "" {
			found = append(found, Controller{Name: part.name, Deployment: manager.Deployment,
				Available: manager.Available, Why: manager.Why})
		}
	}
	return found
}

// heldByController finds a controller that is away and that has something to do
// for the JobSet. One that was switched off does not come back by itself, one
// that fell over does. What runs already runs on without either.
func (j JobSet) heldByController() Blocker {
	for _, controller := range j.snapshot.Controllers {
		needed := j.lacksJobs() || j.heldByCreation() != "" || j.hasEndingJob()
		if controller.Name == "Kueue" {
			needed = needed || j.waitsForQuota()
		} else {
			needed = needed || j.awaitsReaction()
		}
		if controller.Available || !needed {
			continue
		}
		held := Blocker{BlockedController, j.Name, fmt.Sprintf("the %s controller does no work: Deployment %s is not available, %s",
			controller.Name, controller.Deployment, controller.Why), awayFor}
		if controller.Why == scaledToNone {
			held.For = switchedOffFor
		}
		return held
	}
	return Blocker{}
}

// lacksJobs tells that not every Job of the JobSet's roles exists.
func (j JobSet) lacksJobs() bool {
	var wanted int32
	for _, role := range j.live.Spec.ReplicatedJobs {
		wanted += role.Replicas
	}
	return !j.ended() && len(j.jobs()) < int(wanted)
}

// awaitsReaction tells that the JobSet controller has not yet drawn the
// consequence of a Job's end, or of the JobSet's being let go or held.
func (j JobSet) awaitsReaction() bool {
	for _, job := range j.jobs() {
		if jobEnded(&job) && !j.ended() || ptr.Deref(job.Spec.Suspend, false) != j.suspended() {
			return true
		}
	}
	return false
}

// hasEndingJob tells that a Job is to end and has not. The Job controller first
// lets go of its pods, and a webhook that nobody serves refuses it that.
func (j JobSet) hasEndingJob() bool {
	for _, job := range j.jobs() {
		if jobIs(&job, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet) && !jobEnded(&job) {
			return true
		}
	}
	return false
}

func jobEnded(job *batchv1.Job) bool { return jobIs(job, batchv1.JobComplete, batchv1.JobFailed) }

// jobIs tells whether one of these conditions of a Job is true.
func jobIs(job *batchv1.Job, kinds ...batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(condition batchv1.JobCondition) bool {
		return slices.Contains(kinds, condition.Type) && condition.Status == corev1.ConditionTrue
	})
}
