package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"
)

// HaveRestarted judges that a JobSet has restarted at least once and lives on.
func HaveRestarted() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.isNow(jobsetv1.JobSetFailed) {
			return refuse("JobSet %s ended Failed after %s: it was made to fail more often than its maxRestarts allows.",
				j.Name, times(j.Restarts(), "restart")).
				with("status.restarts", "at least 1", j.Restarts()).
				with("state", "running again", j.state())
		}
		if j.Restarts() < 1 {
			return refuse("JobSet %s has not restarted.", j.Name).with("status.restarts", "at least 1", j.Restarts())
		}
		return nil
	})
}

// HaveNotRestarted judges that the JobSet itself has never restarted.
func HaveNotRestarted() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.Restarts() > 0 || j.isNow(jobsetv1.JobSetFailed) {
			return refuse("JobSet %s restarts by itself, which it must not: it is %s.", j.Name, j.state()).
				with("status.restarts", 0, j.Restarts())
		}
		return nil
	})
}

// HaveCompleted judges that a JobSet has ended in success.
func HaveCompleted() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.isNow(jobsetv1.JobSetCompleted) {
			return nil
		}
		if failed := j.condition(jobsetv1.JobSetFailed); j.isNow(jobsetv1.JobSetFailed) {
			return refuse("JobSet %s ended Failed and not Completed: %s.", j.Name, said(failed.Reason, failed.Message)).
				with("state", jobsetv1.JobSetCompleted, j.state())
		}
		return refuse("JobSet %s is not Completed.", j.Name).with("state", jobsetv1.JobSetCompleted, j.state())
	})
}

// HaveAJobThatCompleted judges that a Job of the role ran to its end.
func HaveAJobThatCompleted() types.GomegaMatcher {
	return judgement(func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		if _, done := r.jobDone(); done {
			return nil
		}
		return refuse("No %s Job of JobSet %s has completed.", r.Name, r.of.Name).
			with(r.Name+" Job", "Complete", "not Complete")
	})
}

// HaveNoJobThatEverCompleted judges, by all that was seen, that no Job of the
// role ran to its end. The JobSet controller deletes the Jobs that are still
// active once a JobSet has succeeded, so the present Jobs alone say nothing.
func HaveNoJobThatEverCompleted() types.GomegaMatcher {
	return judgement(func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		if job, done := r.jobDone(); done {
			return refuse("Job %s completed, so JobSet %s did not end because its leader alone finished.", job, r.of.Name).
				with(r.Name+" Job", "never Complete", "Complete")
		}
		return nil
	})
}

// BeSuspended judges a JobSet by spec.suspend.
func BeSuspended() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.suspended() {
			return nil
		}
		return refuse("JobSet %s is not suspended.", j.Name).with("spec.suspend", true, false)
	})
}

// BeInQueue judges that the queue label is on the JobSet itself, where Kueue
// looks for it.
func BeInQueue(queue string) types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.queue() == queue {
			return nil
		}
		label := "label " + kueueconstants.QueueLabel
		if lower := j.queueLabelsBelow(); j.queue() == "" && len(lower) > 0 {
			return refuse("The queue label of JobSet %s is on the %s and not on the JobSet, so Kueue does not admit it as one.",
				j.Name, lower[0]).with(label, queue+" on the JobSet", "on the "+strings.Join(lower, ", "))
		}
		if j.queue() == "" {
			return refuse("JobSet %s has no queue label, so Kueue does not know of it.", j.Name).with(label, queue, "none")
		}
		if cluster := j.snapshot.ClusterQueue; cluster != nil && j.queue() == cluster.Name {
			return refuse("The queue label of JobSet %s names ClusterQueue %s; it must name LocalQueue %s, which leads there.",
				j.Name, cluster.Name, queue).with(label, queue, j.queue())
		}
		return refuse("JobSet %s is in queue %s; the lab wants %s.", j.Name, j.queue(), queue).with(label, queue, j.queue())
	})
}

// BeInNoQueue judges that the queue label is nowhere on the JobSet.
func BeInNoQueue() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		places := j.queueLabelsBelow()
		if j.queue() != "" {
			places = append([]string{"JobSet"}, places...)
		}
		if len(places) == 0 {
			return nil
		}
		return refuse("JobSet %s carries a queue label; the lab wants it without a queue.", j.Name).
			with("label "+kueueconstants.QueueLabel, "none", "on the "+strings.Join(places, ", "))
	})
}

// queueLabelsBelow names the places below the JobSet's own metadata that carry
// the queue label.
func (j JobSet) queueLabelsBelow() []string {
	var places []string
	for _, role := range j.live.Spec.ReplicatedJobs {
		if role.Template.Labels[kueueconstants.QueueLabel] != "" {
			places = append(places, "Job template of "+role.Name)
		}
		if role.Template.Spec.Template.Labels[kueueconstants.QueueLabel] != "" {
			places = append(places, "pod template of "+role.Name)
		}
	}
	return places
}

// state tells what a JobSet is at, in the words of its columns in kubectl.
func (j JobSet) state() string {
	var words []string
	for _, kind := range []jobsetv1.JobSetConditionType{jobsetv1.JobSetFailed, jobsetv1.JobSetCompleted, jobsetv1.JobSetRestarting} {
		if j.isNow(kind) {
			words = append(words, fmt.Sprintf("%s (%s)", kind, j.condition(kind).Reason))
		}
	}
	if j.suspended() {
		words = append(words, "suspended")
	}
	if len(words) == 0 {
		words = append(words, "active")
	}
	if j.Restarts() > 0 {
		words = append(words, "restarts "+fmt.Sprint(j.Restarts()))
	}
	return strings.Join(slices.Compact(words), ", ")
}
