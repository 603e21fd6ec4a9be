package e2e

import (
	"context"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Mistake{
	Name: "hello-of-the-labels-group", Step: 1,
	Tells: "no API serves such a JobSet, and the file is not taken",

	Refused: lab.NoSuchKind,
	Happens: func(g Gomega, s *lab.Snapshot) { g.Expect(s.JobSet("hello")).To(NotExist()) },
}.Specs()

var _ = lab.Mistake{
	Name: "hello-without-completions", Step: 1,
	Tells: "the leader runs alone, and only an event tells that the worker Job cannot be made",

	Happens: func(g Gomega, s *lab.Snapshot) {
		hello := s.JobSet("hello")
		g.Expect(hello).To(HaveRunningPods(1))
		g.Expect(hello.ReplicatedJob("worker")).To(HaveNeverHadAJob())
	},
	Lasting: true,
}.Specs()

var _ = lab.Mistake{
	Name: "hello-without-parallelism", Step: 1,
	Tells: "one worker runs at a time, and the corrected file is not taken while it stands",

	Provoke: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "hello", HaveRunningPods(2))
		me.ApplyInVain(ctx, "steps/hello.yaml", metav1.StatusReasonInvalid)
	},
	Happens: func(g Gomega, s *lab.Snapshot) {
		hello := s.JobSet("hello")
		g.Expect(hello).To(HaveRunningPods(2))
		g.Expect(hello).To(HaveOnePodPerRank())
	},
}.Specs()

var _ = lab.Mistake{
	Name: "fragile-without-backofflimit", Step: 4,
	Tells: "the Job keeps the failure to itself and the JobSet does not restart",

	Provoke: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "fragile", HaveRunningPods(2))
		me.Exec(ctx, "fragile", "worker", 0, "touch", "/tmp/fail")
	},
	// The Job controller waits ten seconds before it replaces the pod. A Job that
	// counts a failed pod and has not failed is on its way there.
	Happens: func(g Gomega, s *lab.Snapshot) {
		fragile := s.JobSet("fragile")
		g.Expect(fragile.ReplicatedJob("worker")).To(HaveKeptAFailure())
		g.Expect(fragile).To(HaveNotRestarted())
		g.Expect(fragile.Pods()).To(AllBeOfAttempt(0))
	},
	Lasting: true,
}.Specs()

var _ = lab.Mistake{
	Name: "fragile-restarts-in-place", Step: 4,
	Tells: "the container starts again in its pod and the JobSet does not restart",

	Provoke: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "fragile", HaveRunningPods(2))
		me.Exec(ctx, "fragile", "worker", 0, "touch", "/tmp/fail")
	},
	Happens: func(g Gomega, s *lab.Snapshot) {
		fragile := s.JobSet("fragile")
		g.Expect(fragile.ReplicatedJob("worker")).To(HaveRestartedInPlace())
		g.Expect(fragile).To(HaveNotRestarted())
		g.Expect(fragile.Pods()).To(AllBeOfAttempt(0))
	},
	Lasting: true,
}.Specs()

var _ = lab.Mistake{
	Name: "eval-target-misspelt", Step: 5,
	Tells: "JobSet's webhook knows no such role, and the file is not taken",

	Refused: metav1.StatusReasonInvalid,
	Happens: func(g Gomega, s *lab.Snapshot) { g.Expect(s.JobSet("eval")).To(NotExist()) },
}.Specs()

var _ = lab.Mistake{
	Name: "eval-without-successpolicy", Step: 5,
	Tells: "the leader finishes, the workers sleep on, and the JobSet does not complete",

	Happens: func(g Gomega, s *lab.Snapshot) {
		eval := s.JobSet("eval")
		g.Expect(eval.ReplicatedJob("leader")).To(HaveAJobThatCompleted())
		g.Expect(eval).To(HaveNotCompleted())
	},
	Lasting: true,
}.Specs()

var _ = lab.Mistake{
	Name: "train-label-on-job-template", Step: 6,
	Tells: "Kueue admits each Job alone and knows of no Workload of the JobSet",

	Happens: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train")
		g.Expect(train).To(HaveJobsQueuedOneByOne(2))
		g.Expect(train).To(HaveNoWorkload())
	},
}.Specs()

var _ = lab.Mistake{
	Name: "train-label-on-pod-template", Step: 6,
	Tells: "Kueue admits each pod alone and knows of no Workload of the JobSet",

	Happens: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train")
		g.Expect(train).To(HavePodsQueuedOneByOne(3))
		g.Expect(train).To(HaveNoWorkload())
	},
}.Specs()

var _ = lab.Mistake{
	Name: "train-gpus-in-requests-only", Step: 6,
	Tells: "Kueue admits the JobSet and lends it the GPUs, and no Job of it can be made",

	Happens: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train")
		g.Expect(train.Workload()).To(BeAdmitted())
		g.Expect(train.ReplicatedJob("leader")).To(HaveNeverHadAJob())
		g.Expect(train.ReplicatedJob("worker")).To(HaveNeverHadAJob())
	},
	Lasting: true,
}.Specs()

var _ = lab.Mistake{
	Name: "train-with-a-cpu-request", Step: 6,
	Tells: "Kueue never admits what asks for a resource that the queue does not have",

	Happens: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train")
		g.Expect(train.Workload()).To(AskForMoreThanTheQueueCovers("cpu"))
		g.Expect(train).To(BeSuspended())
		g.Expect(train).To(HaveNeverHadAPod())
	},
}.Specs()

var _ = lab.Mistake{
	Name: "train-in-the-clusterqueue", Step: 6,
	Tells: "Kueue looks for a LocalQueue of that name, finds none and waits",

	Happens: func(g Gomega, s *lab.Snapshot) {
		train := s.JobSet("train")
		g.Expect(train.Workload()).To(BeInadmissible())
		g.Expect(train).To(BeSuspended())
		g.Expect(train).To(HaveNeverHadAPod())
	},
}.Specs()

var _ = lab.Mistake{
	Name: "big-without-queue", Step: 7,
	Tells: "nothing holds the JobSet back: four pods take all GPUs and the fifth waits",

	Happens: func(g Gomega, s *lab.Snapshot) {
		big := s.JobSet("big")
		g.Expect(big).To(HavePartRunning(4, 1))
		g.Expect(big).To(HaveNoWorkload())
	},
}.Specs()
