package e2e

import (
	"context"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Mistake{
	Name: "fragile-without-backofflimit", Step: 4,
	Tells: "the Job replaces the pod by itself and the JobSet does not restart",

	Provoke: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "fragile-without-backofflimit", HaveRunningPods(2))
		me.Exec(ctx, "fragile-without-backofflimit", "worker", 0, "touch", "/tmp/fail")
	},
	Happens: func(g Gomega, s *lab.Snapshot) {
		fragile := s.JobSet("fragile-without-backofflimit")
		g.Expect(fragile.ReplicatedJob("worker")).To(HaveReplacedAPod())
		g.Expect(fragile).To(HaveNotRestarted())
		g.Expect(fragile.Pods()).To(AllBeOfAttempt(0))
	},
}.Specs()

var _ = lab.Mistake{
	Name: "train-label-on-job-template", Step: 6,
	Tells: "Kueue admits each Job alone and knows of no Workload of the JobSet",

	Happens: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train-label-on-job-template")
		g.Expect(train).To(HaveJobsQueuedOneByOne(2))
		g.Expect(train).To(HaveNoWorkload())
	},
}.Specs()
