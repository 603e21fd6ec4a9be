package steps

import (
	"context"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var trainStep = lab.Step{
	Number: 6, Name: "train",
	Title: "큐에 넣으면 한 덩어리로 입장한다",
	Task:  "GPU 3장을 쓰는 JobSet train 을 큐 라벨과 함께 /root/gsb-jobset/train.yaml 로 넣어 한 덩어리로 입장시킵니다.",

	JobSets: []string{"train"},
	Files:   []string{"train.yaml"},

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Save("train.yaml")
		me.Apply(ctx, "train.yaml")
		me.WaitUntil(ctx, "train", HaveRunningPods(3))
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		train := s.JobSet("train")
		Expect(c, train, HaveRoles("leader", "worker"))
		Expect(c, train.ReplicatedJob("leader"), HaveOneJobOf(1))
		Expect(c, train.ReplicatedJob("worker"), HaveOneJobOf(2))
		Expect(c, train.ReplicatedJob("leader"), AskForGPUs(1))
		Expect(c, train.ReplicatedJob("worker"), AskForGPUs(1))
		Expect(c, train, BeInQueue("lq"))
		Expect(c, train, HaveOneWorkload())
		Expect(c, train.Workload(), HavePodSets(2))
		Expect(c, train.Workload(), HavePodSet("leader", 1))
		Expect(c, train.Workload(), HavePodSet("worker", 2))
		Expect(c, train.Workload(), BeAdmitted())
		Expect(c, train, HaveRunningPods(3))
		Expect(c, train.Pods(), HoldDifferentDevices())
		Expect(c, s.Queue(), LendAll(s.GPUResource, 3))
		Expect(c, s.File("train.yaml"), BeTheManifestOf(train))
	},
}
