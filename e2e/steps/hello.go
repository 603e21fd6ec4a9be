package steps

import (
	"context"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var helloStep = lab.Step{
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
	Check: func(c *Check, s *snapshot.Snapshot) {
		hello := s.JobSet("hello")
		Expect(c, hello, HaveRoles("leader", "worker"))
		Expect(c, hello.ReplicatedJob("leader"), HaveOneJobOf(1))
		Expect(c, hello.ReplicatedJob("worker"), HaveOneJobOf(2))
		Expect(c, hello.ReplicatedJob("leader"), AskForGPUs(0))
		Expect(c, hello.ReplicatedJob("worker"), AskForGPUs(0))
		Expect(c, hello, BeInNoQueue())
		Expect(c, hello, HaveRunningPods(3))
		Expect(c, hello, HaveOnePodPerRank())
		Expect(c, s.File("hello.yaml"), BeTheManifestOf(hello))
	},
}
