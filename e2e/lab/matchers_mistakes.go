package lab

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubetypes "k8s.io/apimachinery/pkg/types"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// The judgements of what mistakes lead to. No step asks for any of it.

// NotExist judges that there is no such JobSet and that none was ever seen.
func NotExist() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if j.live == nil && len(j.snapshot.Seen.Ever("JobSet", j.Name)) == 0 {
			return nil
		}
		return unlike(APIRefusalExpected, "JobSet %s is or was there, and the API server was to refuse it.", j.Name).with("JobSet "+j.Name, "never there", "seen")
	}
}

// HaveNeverHadAJob judges, by all that was seen, that no Job of the role ever existed.
func HaveNeverHadAJob() Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		for _, job := range r.of.snapshot.Seen.Ever("Job", r.of.Name) {
			if job.Role == r.Name {
				return unlike(JobExisted, "Role %s of JobSet %s has had Job %s, which could not be made.", r.Name, r.of.Name, job.Name).
					with(r.Name+" Jobs ever seen", 0, job.Name)
			}
		}
		return nil
	}
}

// HaveKeptAFailure judges that a pod of the role failed and that its Job lives
// on: the Job will put another pod in its place once it has backed off.
func HaveKeptAFailure() Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		for _, job := range r.of.jobs() {
			if job.Labels[jobsetv1.ReplicatedJobNameKey] != r.Name {
				continue
			}
			for _, condition := range job.Status.Conditions {
				if (condition.Type == batchv1.JobFailed || condition.Type == batchv1.JobFailureTarget) && condition.Status == corev1.ConditionTrue {
					return unlike(JobFailed, "The %s Job of JobSet %s failed with its pod.", r.Name, r.of.Name).with("Job "+job.Name, "active", condition.Type)
				}
			}
			if job.Status.Failed > 0 {
				return nil
			}
		}
		return unlike(NoFailedPod, "No pod of the %s Job of JobSet %s has failed.", r.Name, r.of.Name).with("pods that failed", "at least 1", 0)
	}
}

// HaveRestartedInPlace judges that a container of the role was started again in
// the pod that it was in.
func HaveRestartedInPlace() Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		for _, pod := range r.of.Pods().items {
			if roleOf(&pod) == r.Name && containerRestarts(&pod) > 0 && pod.Status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return unlike(NoContainerRestart, "No %s container of JobSet %s was restarted in its pod.", r.Name, r.of.Name).with("container restarts", "at least 1", 0)
	}
}

// HaveNotCompleted judges that a JobSet goes on: it ended neither way.
func HaveNotCompleted() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.isNow(jobsetv1.JobSetCompleted) || j.isNow(jobsetv1.JobSetFailed) {
			return unlike(JobSetEnded, "JobSet %s has ended, and was to go on.", j.Name).with("state", "active", j.state())
		}
		return nil
	}
}

// HavePartRunning judges that some pods of a JobSet run while the others find no
// room: the state that the lab is there to prevent.
func HavePartRunning(running, waiting int) Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		steady, roomless := 0, 0
		for _, pod := range j.Pods().items {
			switch {
			case isSteady(&pod):
				steady++
			case unschedulable(&pod) != "":
				roomless++
			}
		}
		if steady == running && roomless == waiting {
			return nil
		}
		return unlike(RunningCountWrong, "JobSet %s has %s running and %d without room; %d and %d were expected.", j.Name, times(steady, "pod"), roomless, running, waiting).
			with("pods Running and Ready", running, steady).with("pods Unschedulable", waiting, roomless)
	}
}

// BeInadmissible judges that Kueue holds the Workload back without having
// weighed it against a quota: something that it names is not there.
func BeInadmissible() Matcher[Workload] {
	return func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		reserved := w.condition(kueuev1.WorkloadQuotaReserved)
		if reserved != nil && reserved.Status == metav1.ConditionFalse && slices.Contains(noVerdict, reserved.Reason) {
			return nil
		}
		return unlike(NotInadmissible, "Kueue does not call the Workload of JobSet %s inadmissible.", w.of.Name).
			with("QuotaReserved", "false, Inadmissible", w.told(kueuev1.WorkloadQuotaReserved))
	}
}

// AskForMoreThanTheQueueCovers judges that Kueue has looked at the Workload and
// reserved nothing, and that the pods ask for a resource that the queue lacks.
func AskForMoreThanTheQueueCovers(resource string) Matcher[Workload] {
	return func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		reserved := w.condition(kueuev1.WorkloadQuotaReserved)
		if reserved == nil || reserved.Status == metav1.ConditionTrue {
			return unlike(QuotaNotRefused, "Kueue has not refused JobSet %s its quota.", w.of.Name).
				with("QuotaReserved", false, w.told(kueuev1.WorkloadQuotaReserved))
		}
		if !slices.Contains(w.uncovered(), resource) {
			return unlike(ResourceCovered, "JobSet %s asks for nothing that the queue does not cover.", w.of.Name).
				with("resources not covered", resource, list(w.uncovered()))
		}
		return nil
	}
}

// HaveJobsQueuedOneByOne judges that each of the JobSet's Jobs owns a Workload
// of its own on which Kueue has given its verdict.
func HaveJobsQueuedOneByOne(jobs int) Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		var owners []kubetypes.UID
		for _, job := range j.jobs() {
			owners = append(owners, job.UID)
		}
		return j.queuedOneByOne("Job", owners, jobs)
	}
}

// HavePodsQueuedOneByOne judges the same of each of its pods.
func HavePodsQueuedOneByOne(pods int) Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		var owners []kubetypes.UID
		for _, pod := range j.Pods().items {
			owners = append(owners, pod.UID)
		}
		return j.queuedOneByOne("pod", owners, pods)
	}
}

func (j JobSet) queuedOneByOne(kind string, owners []kubetypes.UID, wanted int) *Refusal {
	if r := j.absent(); r != nil {
		return r
	}
	judged := 0
	for _, workload := range j.snapshot.Workloads {
		owner := metav1.GetControllerOf(&workload)
		reserved := meta.FindStatusCondition(workload.Status.Conditions, kueuev1.WorkloadQuotaReserved)
		if owner != nil && slices.Contains(owners, owner.UID) && reserved != nil {
			judged++
		}
	}
	if judged == wanted {
		return nil
	}
	return unlike(QueuedCountWrong, "Kueue has judged %s of JobSet %s by itself; %d were expected.", times(judged, kind), j.Name, wanted).
		with(kind+"s with a Workload of their own", wanted, judged)
}
