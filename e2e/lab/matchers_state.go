package lab

import (
	"fmt"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// HaveRestarted judges that a JobSet has restarted at least once and lives on.
func HaveRestarted() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.isNow(jobsetv1.JobSetFailed) {
			return refuse(JobSetFailed, tell("JobSet %s 의 상태가 Failed 인데, maxRestarts 안에서 재시작해 다시 떠 있어야 합니다.",
				"JobSet %s ended Failed; it should have restarted within its maxRestarts and be up again.", j.Name)).
				with("status.restarts", "at least 1", j.Restarts()).
				with("state", "running again", j.state())
		}
		if j.Restarts() < 1 {
			return refuse(NotRestarted, tell("JobSet %s 의 재시작 횟수가 아직 0 인데, 워커가 실패하면 전체가 다시 시작해야 합니다.",
				"JobSet %s has not restarted yet; when its worker fails, all of it should start again.", j.Name)).with("status.restarts", "at least 1", j.Restarts())
		}
		return nil
	}
}

// HaveNotRestarted judges that the JobSet itself has never restarted.
func HaveNotRestarted() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.Restarts() > 0 || j.isNow(jobsetv1.JobSetFailed) {
			return unlike(RestartUnexpected, "JobSet %s restarts by itself, which it must not: it is %s.", j.Name, j.state()).
				with("status.restarts", 0, j.Restarts())
		}
		return nil
	}
}

// HaveCompleted judges that a JobSet has ended in success.
func HaveCompleted() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.isNow(jobsetv1.JobSetCompleted) {
			return nil
		}
		if failed := j.condition(jobsetv1.JobSetFailed); j.isNow(jobsetv1.JobSetFailed) {
			return refuse(JobSetFailed, tell("JobSet %s 의 상태가 Failed 인데, Completed 가 되어야 합니다.", "JobSet %s ended Failed; it should be Completed.", j.Name)).
				with("state", jobsetv1.JobSetCompleted, j.state()).with("reason", "", said(failed.Reason, failed.Message))
		}
		return refuse(NotCompleted, tell("JobSet %s 의 상태가 아직 Completed 가 아닌데, Completed 가 되어야 합니다.",
			"JobSet %s is not Completed yet; it should become so.", j.Name)).with("state", jobsetv1.JobSetCompleted, j.state())
	}
}

// HaveAJobThatCompleted judges that a Job of the role ran to its end. Whether one
// that is gone did, a single reading cannot tell, so it leaves that open.
func HaveAJobThatCompleted() Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		if _, done := r.jobDone(); done {
			return nil
		}
		if r.of.snapshot.ReadOnly && !r.hasJob() {
			gone := refuse(JobGone, tell("JobSet %s 의 %s Job 이 이미 지워져서 끝났는지는 보지 않았습니다.",
				"Whether JobSet %s's %s Job has completed was not looked at: it is gone.", r.of.Name, r.Name))
			gone.Open = true
			return gone
		}
		return refuse(JobNotCompleted, tell("JobSet %s 에서 끝난(Complete) %s Job 을 볼 수 없습니다.", "JobSet %s shows no %s Job that has completed.", r.of.Name, r.Name)).
			with(r.Name+" Job", "Complete", "not Complete")
	}
}

// HaveNoJobThatEverCompleted judges, by all that was seen, that no Job of the
// role ran to its end. The JobSet controller deletes the Jobs that are still
// active once a JobSet has succeeded, so the present Jobs alone say nothing.
func HaveNoJobThatEverCompleted() Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		if job, done := r.jobDone(); done {
			return refuse(WorkerCompleted, tell("JobSet %s 의 %s Job 도 끝났는데(Complete), 리더만 끝나고 워커는 계속 자고 있어야 합니다.",
				"JobSet %s has a %s Job that completed too; the leader alone should finish while the workers sleep on.", r.of.Name, r.Name)).
				with("Job "+job, "never Complete", "Complete")
		}
		return nil
	}
}

// BeSuspended judges a JobSet by spec.suspend.
func BeSuspended() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		if j.suspended() {
			return nil
		}
		return refuse(NotSuspended, tell("JobSet %s 의 SUSPENDED 열을 보면 멈춰 있지 않은데, 멈춘 채여야 합니다.",
			"JobSet %s is not suspended (the SUSPENDED column); it should be.", j.Name)).with("spec.suspend", true, false)
	}
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
