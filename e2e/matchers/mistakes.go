package matchers

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubetypes "k8s.io/apimachinery/pkg/types"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The judgements of what mistakes lead to. No step asks for any of it.

// NotExist judges that there is no such JobSet and that none was ever seen.
func NotExist() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if j.Live == nil && len(j.Snapshot.Seen.Ever("JobSet", j.Name)) == 0 {
			return nil
		}
		return NewInternalMismatch(APIRefusalExpected, "JobSet %s is or was there, and the API server was to refuse it.", j.Name).Row("JobSet "+j.Name, "never there", "seen")
	}
}

// HaveNeverHadAJob judges, by all that was seen, that no Job of the role ever existed.
func HaveNeverHadAJob() Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		for _, job := range r.Of.Snapshot.Seen.Ever("Job", r.Of.Name) {
			if job.Role == r.Name {
				return NewInternalMismatch(JobExisted, "Role %s of JobSet %s has had Job %s, which could not be made.", r.Name, r.Of.Name, job.Name).
					Row(r.Name+" Jobs ever seen", 0, job.Name)
			}
		}
		return nil
	}
}

// HaveKeptAFailure judges that a pod of the role failed and that its Job lives
// on: the Job will put another pod in its place once it has backed off.
func HaveKeptAFailure() Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		for _, job := range r.Of.Jobs() {
			if job.Labels[jobsetv1.ReplicatedJobNameKey] != r.Name {
				continue
			}
			for _, condition := range job.Status.Conditions {
				if (condition.Type == batchv1.JobFailed || condition.Type == batchv1.JobFailureTarget) && condition.Status == corev1.ConditionTrue {
					return NewInternalMismatch(JobFailed, "The %s Job of JobSet %s failed with its pod.", r.Name, r.Of.Name).Row("Job "+job.Name, "active", condition.Type)
				}
			}
			if job.Status.Failed > 0 {
				return nil
			}
		}
		return NewInternalMismatch(NoFailedPod, "No pod of the %s Job of JobSet %s has failed.", r.Name, r.Of.Name).Row("pods that failed", "at least 1", 0)
	}
}

// HaveRestartedInPlace judges that a container of the role was started again in
// the pod that it was in.
func HaveRestartedInPlace() Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		for _, pod := range r.Of.Pods().Items {
			if snapshot.RoleOf(&pod) == r.Name && snapshot.ContainerRestarts(&pod) > 0 && pod.Status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return NewInternalMismatch(NoContainerRestart, "No %s container of JobSet %s was restarted in its pod.", r.Name, r.Of.Name).Row("container restarts", "at least 1", 0)
	}
}

// HaveNotCompleted judges that a JobSet goes on: it ended neither way.
func HaveNotCompleted() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if j.IsNow(jobsetv1.JobSetCompleted) || j.IsNow(jobsetv1.JobSetFailed) {
			return NewInternalMismatch(JobSetEnded, "JobSet %s has ended, and was to go on.", j.Name).Row("state", "active", j.State())
		}
		return nil
	}
}

// HavePartRunning judges that some pods of a JobSet run while the others find no
// room: the state that the lab is there to prevent.
func HavePartRunning(running, waiting int) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		steady, roomless := 0, 0
		for _, pod := range j.Pods().Items {
			switch {
			case snapshot.IsRunningAndReady(&pod):
				steady++
			case snapshot.Unschedulable(&pod) != "":
				roomless++
			}
		}
		if steady == running && roomless == waiting {
			return nil
		}
		return NewInternalMismatch(RunningCountWrong, "JobSet %s has %s running and %d without room; %d and %d were expected.", j.Name, text.Times(steady, "pod"), roomless, running, waiting).
			Row("pods Running and Ready", running, steady).Row("pods Unschedulable", waiting, roomless)
	}
}

// BeInadmissible judges that Kueue holds the Workload back without having
// weighed it against a quota: something that it names is not there.
func BeInadmissible() Matcher[snapshot.Workload] {
	return func(w snapshot.Workload) *Mismatch {
		if r := missingWorkload(w); r != nil {
			return r
		}
		reserved := w.Condition(kueuev1.WorkloadQuotaReserved)
		if reserved != nil && reserved.Status == metav1.ConditionFalse && slices.Contains(noVerdict, reserved.Reason) {
			return nil
		}
		return NewInternalMismatch(NotInadmissible, "Kueue does not call the Workload of JobSet %s inadmissible.", w.Of.Name).
			Row("QuotaReserved", "false, Inadmissible", w.ConditionText(kueuev1.WorkloadQuotaReserved))
	}
}

// AskForMoreThanTheQueueCovers judges that Kueue has looked at the Workload and
// reserved nothing, and that the pods ask for a resource that the queue lacks.
func AskForMoreThanTheQueueCovers(resource string) Matcher[snapshot.Workload] {
	return func(w snapshot.Workload) *Mismatch {
		if r := missingWorkload(w); r != nil {
			return r
		}
		reserved := w.Condition(kueuev1.WorkloadQuotaReserved)
		if reserved == nil || reserved.Status == metav1.ConditionTrue {
			return NewInternalMismatch(QuotaNotRefused, "Kueue has not refused JobSet %s its quota.", w.Of.Name).
				Row("QuotaReserved", false, w.ConditionText(kueuev1.WorkloadQuotaReserved))
		}
		if !slices.Contains(uncovered(w), resource) {
			return NewInternalMismatch(ResourceCovered, "JobSet %s asks for nothing that the queue does not cover.", w.Of.Name).
				Row("resources not covered", resource, text.List(uncovered(w)))
		}
		return nil
	}
}

// HaveJobsQueuedOneByOne judges that each of the JobSet's Jobs owns a Workload
// of its own on which Kueue has given its verdict.
func HaveJobsQueuedOneByOne(jobs int) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		var owners []kubetypes.UID
		for _, job := range j.Jobs() {
			owners = append(owners, job.UID)
		}
		return queuedOneByOne(j, "Job", owners, jobs)
	}
}

// HavePodsQueuedOneByOne judges the same of each of its pods.
func HavePodsQueuedOneByOne(pods int) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		var owners []kubetypes.UID
		for _, pod := range j.Pods().Items {
			owners = append(owners, pod.UID)
		}
		return queuedOneByOne(j, "pod", owners, pods)
	}
}

func queuedOneByOne(j snapshot.JobSet, kind string, owners []kubetypes.UID, wanted int) *Mismatch {
	if r := MissingJobSet(j); r != nil {
		return r
	}
	judged := 0
	for _, workload := range j.Snapshot.Workloads {
		owner := metav1.GetControllerOf(&workload)
		reserved := meta.FindStatusCondition(workload.Status.Conditions, kueuev1.WorkloadQuotaReserved)
		if owner != nil && slices.Contains(owners, owner.UID) && reserved != nil {
			judged++
		}
	}
	if judged == wanted {
		return nil
	}
	return NewInternalMismatch(QueuedCountWrong, "Kueue has judged %s of JobSet %s by itself; %d were expected.", text.Times(judged, kind), j.Name, wanted).
		Row(kind+"s with a Workload of their own", wanted, judged)
}
