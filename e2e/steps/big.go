package steps

import (
	"context"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var bigStep = lab.Step{
	Number: 7, Name: "big",
	Title: "쿼터를 넘으면 한 파드도 뜨지 않는다",
	Task:  "GPU 5장을 쓰는 JobSet big 을 넣어 한 파드도 뜨지 않는 것을 보고 사유를 /root/gsb-jobset/big.txt 에 담습니다.",

	JobSets: []string{"big"},
	Files:   []string{"big.txt"},
	Lasting: true,

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Apply(ctx, "big.yaml")
		me.WaitUntil(ctx, "big", HaveWorkload(BeRefusedQuota()))
		me.Write("big.txt", "%s\n", me.Look(ctx).JobSet("big").Workload().Reason())
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		big := s.JobSet("big")
		Expect(c, big, HaveRoles("leader", "worker"))
		Expect(c, big.ReplicatedJob("leader"), HaveOneJobOf(1))
		Expect(c, big.ReplicatedJob("worker"), HaveOneJobOf(4))
		Expect(c, big.ReplicatedJob("leader"), AskForGPUs(1))
		Expect(c, big.ReplicatedJob("worker"), AskForGPUs(1))
		Expect(c, big, BeInQueue("lq"))
		Expect(c, big, HaveOneWorkload())
		Expect(c, big.Workload(), HavePodSets(2))
		Expect(c, big.Workload(), HavePodSet("leader", 1))
		Expect(c, big.Workload(), HavePodSet("worker", 4))
		Expect(c, big.Workload(), BeRefusedQuota())
		Expect(c, big, BeSuspended())
		Expect(c, big, HaveNeverHadAPod())
		Expect(c, s.File("big.txt"), CarryReasonOf(big.Workload()))
	},
}
