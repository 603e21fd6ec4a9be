package e2e

import (
	"context"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Step{
	Number: 5, Name: "eval",
	Title: "리더가 끝나면 전체가 끝난다",
	Task:  "리더만 끝나면 Completed 가 되는 JobSet eval 을 만듭니다.",

	JobSets: []string{"eval"},

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Apply(ctx, "eval.yaml")
		me.WaitUntil(ctx, "eval", HaveCompleted())
	},
	Check: func(g Gomega, s *lab.Snapshot) {
		eval := s.JobSet("eval")
		g.Expect(eval).To(HaveRoles("leader", "worker"))
		g.Expect(eval.ReplicatedJob("leader")).To(HaveOneJobOf(1))
		g.Expect(eval.ReplicatedJob("worker")).To(HaveOneJobOf(2))
		g.Expect(eval).To(SucceedWhenAnyOf("leader"))
		g.Expect(eval).To(HaveCompleted())
		g.Expect(eval.ReplicatedJob("leader")).To(HaveAJobThatCompleted())
		g.Expect(eval.ReplicatedJob("worker")).To(HaveNoJobThatEverCompleted())
	},
}.Specs()
