package matchers

import (
	"slices"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HaveBackoffLimit judges a role's Job by its backoffLimit. One that is left
// out is 6: the Job controller's default, which the API server fills in only in
// the Job and not in the JobSet.
func HaveBackoffLimit(wanted int32) Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		limit := r.Fields.Template.Spec.BackoffLimit
		switch {
		case limit == nil:
			return newSpecMismatch(BackoffLimitMissing, snapshot.TextOf("JobSet %s 의 %s Job 에 backoffLimit 이 비어 있어서, 실패한 파드를 Job 이 혼자 다시 띄우고 JobSet 은 재시작하지 않습니다.",
				"In JobSet %s the %s Job leaves backoffLimit out, so the Job puts up a failed pod again by itself and the JobSet does not restart.", r.Of.Name, r.Name)).Row("backoffLimit", wanted, "none (which means 6)")
		case *limit != wanted:
			return newSpecMismatch(BackoffLimitWrong, snapshot.TextOf("JobSet %s 의 %s Job 에서 backoffLimit 값이 %d 인데, 그러면 JobSet 이 재시작하기 전에 Job 이 혼자 파드를 다시 띄웁니다.",
				"In JobSet %s the %s Job has a backoffLimit of %d, so the Job puts up a failed pod again by itself before the JobSet restarts.",
				r.Of.Name, r.Name, *limit)).Row("backoffLimit", wanted, *limit)
		}
		return nil
	}
}

// AllowRestarts judges a JobSet by failurePolicy.maxRestarts.
func AllowRestarts(wanted int32) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		policy := j.Live.Spec.FailurePolicy
		switch {
		case policy == nil:
			return newSpecMismatch(FailurePolicyMissing, snapshot.TextOf("JobSet %s 에 failurePolicy 가 없어서, Job 하나가 실패하면 재시작 없이 끝납니다.",
				"JobSet %s has no failurePolicy, so its first failed Job ends it without a restart.", j.Name)).
				Row("failurePolicy.maxRestarts", wanted, "no failurePolicy")
		case policy.MaxRestarts != wanted:
			return newSpecMismatch(MaxRestartsWrong, snapshot.TextOf("JobSet %s 의 maxRestarts 값이 %d 인데, 실습의 값과 다릅니다.",
				"JobSet %s has a maxRestarts of %d, which is not the lab's.", j.Name, policy.MaxRestarts)).
				Row("failurePolicy.maxRestarts", wanted, policy.MaxRestarts)
		}
		return nil
	}
}

// SucceedWhenAnyOf judges a JobSet by its successPolicy: operator Any over
// exactly this role.
func SucceedWhenAnyOf(role string) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		policy := j.Live.Spec.SuccessPolicy
		if policy == nil {
			policy = &jobsetv1.SuccessPolicy{Operator: jobsetv1.OperatorAll}
		}
		targets := "every role"
		if len(policy.TargetReplicatedJobs) > 0 {
			targets = text.List(policy.TargetReplicatedJobs)
		}
		if policy.Operator == jobsetv1.OperatorAny && slices.Equal(policy.TargetReplicatedJobs, []string{role}) {
			return nil
		}
		finish := jobsThatFinish(policy.Operator, policy.TargetReplicatedJobs)
		words := snapshot.TextOf("JobSet %s 의 성공 조건은 "+finish.KO+" 것인데, %s 역할만 끝나면 성공이어야 합니다.",
			"JobSet %s succeeds when "+finish.EN+"; it should when role %s alone finishes.", j.Name, role)
		if slices.Equal(policy.TargetReplicatedJobs, []string{role}) {
			// Of a role of one Job it comes to the same, and is not what the text asks for.
			words = snapshot.TextOf("JobSet %s 의 successPolicy 에서 operator 가 %s 인데, 실습의 operator 는 %s 입니다.",
				"JobSet %s has a successPolicy of operator %s; the lab text asks for operator %s.", j.Name, policy.Operator, jobsetv1.OperatorAny)
		}
		return newSpecMismatch(SuccessPolicyWrong, words).
			Row("successPolicy.operator", jobsetv1.OperatorAny, policy.Operator).
			Row("successPolicy.targetReplicatedJobs", role, targets)
	}
}

func jobsThatFinish(operator jobsetv1.Operator, targets []string) snapshot.Text {
	some, all, of := "아무", "모든", "every role"
	if len(targets) > 0 {
		some, all, of = text.List(targets), text.List(targets), text.List(targets)
	}
	if operator == jobsetv1.OperatorAny {
		return snapshot.Text{KO: some + " 역할의 Job 이 하나라도 끝나는", EN: "any Job of " + of + " finishes"}
	}
	return snapshot.Text{KO: all + " 역할의 Job 이 모두 끝나는", EN: "all Jobs of " + of + " have finished"}
}
