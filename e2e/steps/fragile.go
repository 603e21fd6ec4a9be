package steps

import (
	"context"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var fragileStep = lab.Step{
	Number: 4, Name: "fragile",
	Title: "하나가 죽으면 전부 다시 시작한다",
	Task:  "JobSet fragile(maxRestarts 2, 워커 backoffLimit 0)을 만들어 워커를 실패시키고, 재시작 횟수를 /root/gsb-jobset/restart.txt 에 restarts= 로 적습니다.",

	JobSets: []string{"fragile"},
	Files:   []string{"restart.txt"},

	Solve: func(ctx context.Context, me *lab.Learner) {
		me.Apply(ctx, "fragile.yaml")
		me.WaitUntil(ctx, "fragile", HaveRunningPods(2))
		me.Exec(ctx, "fragile", "worker", 0, "touch", "/tmp/fail")
		me.WaitUntil(ctx, "fragile", HaveRestarted(), HaveOnePodPerRank())
		me.Write("restart.txt", "restarts=%d\n", me.Restarts(ctx, "fragile"))
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		fragile := s.JobSet("fragile")
		Expect(c, fragile, HaveRoles("leader", "worker"))
		Expect(c, fragile.ReplicatedJob("leader"), HaveOneJobOf(1))
		Expect(c, fragile.ReplicatedJob("worker"), HaveOneJobOf(1))
		Expect(c, fragile, AllowRestarts(2))
		Expect(c, fragile.ReplicatedJob("worker"), HaveBackoffLimit(0))
		Expect(c, fragile.ReplicatedJob("worker"), EndOnFile("/tmp/fail"))
		Expect(c, fragile, HaveRestarted())
		// The count rises before the old pods are gone, so for a while pods of
		// two attempts are there together.
		Expect(c, fragile.Pods(), AllBeOfAttempt(fragile.Restarts()))
		Expect(c, fragile, HaveOnePodPerRank())
		Expect(c, s.File("restart.txt"), Say("restarts", fragile.Restarts()))
	},
}
