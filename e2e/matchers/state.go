package matchers

import (
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HaveRestarted judges that a JobSet has restarted at least once and lives on.
func HaveRestarted() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if j.IsNow(jobsetv1.JobSetFailed) {
			return NewMismatch(JobSetFailed, snapshot.TextOf("JobSet %s 의 상태가 Failed 인데, maxRestarts 안에서 재시작해 다시 떠 있어야 합니다.",
				"JobSet %s ended Failed; it should have restarted within its maxRestarts and be up again.", j.Name)).
				Row("status.restarts", "at least 1", j.Restarts()).
				Row("state", "running again", j.State())
		}
		if j.Restarts() < 1 {
			return NewMismatch(NotRestarted, snapshot.TextOf("JobSet %s 의 재시작 횟수가 아직 0 인데, 워커가 실패하면 전체가 다시 시작해야 합니다.",
				"JobSet %s has not restarted yet; when its worker fails, all of it should start again.", j.Name)).Row("status.restarts", "at least 1", j.Restarts())
		}
		return nil
	}
}

// HaveNotRestarted judges that the JobSet itself has never restarted.
func HaveNotRestarted() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if j.Restarts() > 0 || j.IsNow(jobsetv1.JobSetFailed) {
			return NewInternalMismatch(RestartUnexpected, "JobSet %s restarts by itself, which it must not: it is %s.", j.Name, j.State()).
				Row("status.restarts", 0, j.Restarts())
		}
		return nil
	}
}

// HaveCompleted judges that a JobSet has ended in success.
func HaveCompleted() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if j.IsNow(jobsetv1.JobSetCompleted) {
			return nil
		}
		if failed := j.Condition(jobsetv1.JobSetFailed); j.IsNow(jobsetv1.JobSetFailed) {
			return NewMismatch(JobSetFailed, snapshot.TextOf("JobSet %s 의 상태가 Failed 인데, Completed 가 되어야 합니다.", "JobSet %s ended Failed; it should be Completed.", j.Name)).
				Row("state", jobsetv1.JobSetCompleted, j.State()).Row("reason", "", text.ReasonAndMessage(failed.Reason, failed.Message))
		}
		return NewMismatch(NotCompleted, snapshot.TextOf("JobSet %s 의 상태가 아직 Completed 가 아닌데, Completed 가 되어야 합니다.",
			"JobSet %s is not Completed yet; it should become so.", j.Name)).Row("state", jobsetv1.JobSetCompleted, j.State())
	}
}

// HaveAJobThatCompleted judges that a Job of the role ran to its end. Whether one
// that is gone did, a single reading cannot tell, so it leaves that open.
func HaveAJobThatCompleted() Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		if _, done := jobDone(r); done {
			return nil
		}
		if r.Of.Snapshot.ReadOnly && !hasJob(r) {
			gone := NewMismatch(JobGone, snapshot.TextOf("JobSet %s 의 %s Job 이 이미 지워져서 끝났는지는 보지 않았습니다.",
				"Whether JobSet %s's %s Job has completed was not looked at: it is gone.", r.Of.Name, r.Name))
			gone.Inconclusive = true
			return gone
		}
		return NewMismatch(JobNotCompleted, snapshot.TextOf("JobSet %s 에서 끝난(Complete) %s Job 을 볼 수 없습니다.", "JobSet %s shows no %s Job that has completed.", r.Of.Name, r.Name)).
			Row(r.Name+" Job", "Complete", "not Complete")
	}
}

// HaveNoJobThatEverCompleted judges, by all that was seen, that no Job of the
// role ran to its end. The JobSet controller deletes the Jobs that are still
// active once a JobSet has succeeded, so the present Jobs alone say nothing.
func HaveNoJobThatEverCompleted() Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		if job, done := jobDone(r); done {
			return NewMismatch(WorkerCompleted, snapshot.TextOf("JobSet %s 의 %s Job 도 끝났는데(Complete), 리더만 끝나고 워커는 계속 자고 있어야 합니다.",
				"JobSet %s has a %s Job that completed too; the leader alone should finish while the workers sleep on.", r.Of.Name, r.Name)).
				Row("Job "+job, "never Complete", "Complete")
		}
		return nil
	}
}

// BeSuspended judges a JobSet by spec.suspend.
func BeSuspended() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if j.Suspended() {
			return nil
		}
		return NewMismatch(NotSuspended, snapshot.TextOf("JobSet %s 의 SUSPENDED 열을 보면 멈춰 있지 않은데, 멈춘 채여야 합니다.",
			"JobSet %s is not suspended (the SUSPENDED column); it should be.", j.Name)).Row("spec.suspend", true, false)
	}
}
