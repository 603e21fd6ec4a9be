package e2e

import (
	"context"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Step{
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
	Check: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train")
		g.Expect(train).To(HaveRoles("leader", "worker"))
		g.Expect(train.ReplicatedJob("leader")).To(HaveOneJobOf(1))
		g.Expect(train.ReplicatedJob("worker")).To(HaveOneJobOf(2))
		g.Expect(train.ReplicatedJob("leader")).To(AskForGPUs(1))
		g.Expect(train.ReplicatedJob("worker")).To(AskForGPUs(1))
		g.Expect(train).To(BeInQueue("lq"))
		g.Expect(train).To(HaveOneWorkload())
		g.Expect(train.Workload()).To(HavePodSets(2))
		g.Expect(train.Workload()).To(HavePodSet("leader", 1))
		g.Expect(train.Workload()).To(HavePodSet("worker", 2))
		g.Expect(train.Workload()).To(BeAdmitted())
		g.Expect(train).To(HaveRunningPods(3))
		g.Expect(train.Pods()).To(HoldDifferentDevices())
		g.Expect(s.Queue()).To(LendAll(s.GPUResource, 3))
		g.Expect(s.File("train.yaml")).To(BeTheManifestOf(train))
	},
}.Specs()
