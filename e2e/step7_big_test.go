package e2e

import (
	"context"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Step{
	Number: 7, Name: "big",
	Title: "쿼터를 넘으면 한 파드도 뜨지 않는다",
	Task:  "GPU 5장을 쓰는 JobSet big 을 넣어 한 파드도 뜨지 않는 것을 보고 사유를 /root/gsb-jobset/big.txt 에 담습니다.",

	JobSets: []string{"big"},
	Files:   []string{"big.txt"},
	Lasting: true,

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Apply(ctx, "big.yaml")
		me.WaitUntil(ctx, "big", WithTransform(lab.JobSet.Workload, BeRefusedQuota()))
		me.Write("big.txt", "%s\n", me.Look(ctx).JobSet("big").Workload().Reason())
	},
	Check: func(g Gomega, s *lab.Snapshot) {
		big := s.JobSet("big")
		g.Expect(big).To(HaveRoles("leader", "worker"))
		g.Expect(big.ReplicatedJob("leader")).To(HaveOneJobOf(1))
		g.Expect(big.ReplicatedJob("worker")).To(HaveOneJobOf(4))
		g.Expect(big.ReplicatedJob("leader")).To(AskForGPUs(1))
		g.Expect(big.ReplicatedJob("worker")).To(AskForGPUs(1))
		g.Expect(big).To(BeInQueue("lq"))
		g.Expect(big).To(HaveOneWorkload())
		g.Expect(big.Workload()).To(BeRefusedQuota())
		g.Expect(big).To(BeSuspended())
		g.Expect(big).To(HaveNeverHadAPod())
		g.Expect(s.File("big.txt")).To(CarryReasonOf(big.Workload()))
	},
}.Specs()
