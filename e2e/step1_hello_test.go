package e2e

import (
	"context"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Step{
	Number: 1, Name: "hello",
	Title: "리더 하나, 워커 둘",
	Task:  "리더 1·워커 2 의 JobSet hello 를 /root/gsb-jobset/hello.yaml 로 만들어 파드 셋을 Running 으로 둡니다.",

	JobSets: []string{"hello"},
	Files:   []string{"hello.yaml"},

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Save("hello.yaml")
		me.Apply(ctx, "hello.yaml")
		me.WaitUntil(ctx, "hello", HaveRunningPods(3))
	},
	Check: func(g Gomega, s *lab.Snapshot) {
		hello := s.JobSet("hello")
		g.Expect(hello).To(HaveRoles("leader", "worker"))
		g.Expect(hello.ReplicatedJob("leader")).To(HaveOneJobOf(1))
		g.Expect(hello.ReplicatedJob("worker")).To(HaveOneJobOf(2))
		g.Expect(hello.ReplicatedJob("leader")).To(AskForGPUs(0))
		g.Expect(hello.ReplicatedJob("worker")).To(AskForGPUs(0))
		g.Expect(hello).To(BeInNoQueue())
		g.Expect(hello).To(HaveRunningPods(3))
		g.Expect(hello).To(HaveOnePodPerRank())
		g.Expect(s.File("hello.yaml")).To(BeTheManifestOf(hello))
	},
}.Specs()
