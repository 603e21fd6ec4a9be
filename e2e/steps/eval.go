package steps

import (
	"context"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var evalStep = lab.Step{
	Number: 5, Name: "eval",
	Title: "리더가 끝나면 전체가 끝난다",
	Task:  "리더만 끝나면 Completed 가 되는 JobSet eval 을 만듭니다.",

	JobSets: []string{"eval"},

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Apply(ctx, "eval.yaml")
		me.WaitUntil(ctx, "eval", HaveCompleted())
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		eval := s.JobSet("eval")
		Expect(c, eval, HaveRoles("leader", "worker"))
		Expect(c, eval.ReplicatedJob("leader"), HaveOneJobOf(1))
		Expect(c, eval.ReplicatedJob("worker"), HaveOneJobOf(2))
		Expect(c, eval, SucceedWhenAnyOf("leader"))
		Expect(c, eval, HaveCompleted())
		Expect(c, eval.ReplicatedJob("leader"), HaveAJobThatCompleted())
		Expect(c, eval.ReplicatedJob("worker"), HaveNoJobThatEverCompleted())
		Expect(c, eval.ReplicatedJob("worker"), HaveHadRunningPods())
	},
}
