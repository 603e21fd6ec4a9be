package steps

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var mistakes = []lab.Mistake{{
	Name: "hello-of-the-labels-group", Step: 1, JobSet: "hello",
	Symptom: "no API serves such a JobSet, and the file is not taken",

	Refused: lab.NoSuchKind,
	Check:   func(c *Check, s *snapshot.Snapshot) { Expect(c, s.JobSet("hello"), NotExist()) },
}, {
	Name: "hello-without-completions", Step: 1, JobSet: "hello",
	Symptom: "the leader runs alone, and only an event says that the worker Job cannot be made",

	Check: func(c *Check, s *snapshot.Snapshot) {
		hello := s.JobSet("hello")
		Expect(c, hello, HaveRunningPods(1))
		Expect(c, hello.ReplicatedJob("worker"), HaveNeverHadAJob())
	},
	Lasting: true,
}, {
	Name: "hello-without-parallelism", Step: 1, JobSet: "hello",
	Symptom: "one worker runs at a time, and the corrected file is not taken while it stands",

	Trigger: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "hello", HaveRunningPods(2))
		me.ApplyRefused(ctx, "steps/hello.yaml", metav1.StatusReasonInvalid)
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		hello := s.JobSet("hello")
		Expect(c, hello, HaveRunningPods(2))
		Expect(c, hello, HaveOnePodPerRank())
	},
}, {
	Name: "fragile-without-backofflimit", Step: 4, JobSet: "fragile", InText: true,
	Symptom: "the Job keeps the failure to itself and the JobSet does not restart",

	Trigger: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "fragile", HaveRunningPods(2))
		me.Exec(ctx, "fragile", "worker", 0, "touch", "/tmp/fail")
	},
	// The Job controller waits ten seconds before it replaces the pod. A Job that
	// counts a failed pod and has not failed is on its way there.
	Check: func(c *Check, s *snapshot.Snapshot) {
		fragile := s.JobSet("fragile")
		Expect(c, fragile.ReplicatedJob("worker"), HaveKeptAFailure())
		Expect(c, fragile, HaveNotRestarted())
		Expect(c, fragile.Pods(), AllBeOfAttempt(0))
	},
	Lasting: true,
}, {
	Name: "fragile-restarts-in-place", Step: 4, JobSet: "fragile",
	Symptom: "the container starts again in its pod and the JobSet does not restart",

	Trigger: func(ctx context.Context, me *lab.Learner) {
		me.WaitUntil(ctx, "fragile", HaveRunningPods(2))
		me.Exec(ctx, "fragile", "worker", 0, "touch", "/tmp/fail")
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		fragile := s.JobSet("fragile")
		Expect(c, fragile.ReplicatedJob("worker"), HaveRestartedInPlace())
		Expect(c, fragile, HaveNotRestarted())
		Expect(c, fragile.Pods(), AllBeOfAttempt(0))
	},
	Lasting: true,
}, {
	Name: "eval-target-misspelt", Step: 5, JobSet: "eval",
	Symptom: "JobSet's webhook knows no such role, and the file is not taken",

	Refused: metav1.StatusReasonInvalid,
	Check:   func(c *Check, s *snapshot.Snapshot) { Expect(c, s.JobSet("eval"), NotExist()) },
}, {
	Name: "eval-without-successpolicy", Step: 5, JobSet: "eval",
	Symptom: "the leader finishes, the workers sleep on, and the JobSet does not complete",

	Check: func(c *Check, s *snapshot.Snapshot) {
		eval := s.JobSet("eval")
		Expect(c, eval.ReplicatedJob("leader"), HaveAJobThatCompleted())
		Expect(c, eval, HaveNotCompleted())
	},
	Lasting: true,
}, {
	Name: "train-label-on-job-template", Step: 6, JobSet: "train", InText: true, Integration: lab.JobIntegration,
	Symptom: "Kueue admits each Job alone and knows of no Workload of the JobSet",

	Check: func(c *Check, s *snapshot.Snapshot) {
		train := s.JobSet("train")
		Expect(c, train, HaveJobsQueuedOneByOne(2))
		Expect(c, train, HaveNoWorkload())
	},
}, {
	Name: "train-label-on-pod-template", Step: 6, JobSet: "train", Integration: lab.PodIntegration,
	Symptom: "Kueue admits each pod alone and knows of no Workload of the JobSet",

	Check: func(c *Check, s *snapshot.Snapshot) {
		train := s.JobSet("train")
		Expect(c, train, HavePodsQueuedOneByOne(3))
		Expect(c, train, HaveNoWorkload())
	},
}, {
	Name: "train-gpus-in-requests-only", Step: 6, JobSet: "train",
	Symptom: "Kueue admits the JobSet and lends it the GPUs, and no Job of it can be made",

	Check: func(c *Check, s *snapshot.Snapshot) {
		train := s.JobSet("train")
		Expect(c, train.Workload(), BeAdmitted())
		Expect(c, train.ReplicatedJob("leader"), HaveNeverHadAJob())
		Expect(c, train.ReplicatedJob("worker"), HaveNeverHadAJob())
	},
	Lasting: true,
}, {
	Name: "train-with-a-cpu-request", Step: 6, JobSet: "train",
	Symptom: "Kueue never admits what asks for a resource that the queue does not have",

	Check: func(c *Check, s *snapshot.Snapshot) {
		train := s.JobSet("train")
		Expect(c, train.Workload(), AskForMoreThanTheQueueCovers("cpu"))
		Expect(c, train, BeSuspended())
		Expect(c, train, HaveNeverHadAPod())
	},
}, {
	Name: "train-in-the-clusterqueue", Step: 6, JobSet: "train",
	Symptom: "Kueue looks for a LocalQueue of that name, finds none and waits",

	Check: func(c *Check, s *snapshot.Snapshot) {
		train := s.JobSet("train")
		Expect(c, train.Workload(), BeInadmissible())
		Expect(c, train, BeSuspended())
		Expect(c, train, HaveNeverHadAPod())
	},
}, {
	Name: "big-without-queue", Step: 7, JobSet: "big",
	Symptom: "nothing holds the JobSet back: four pods take all GPUs and the fifth waits",

	Check: func(c *Check, s *snapshot.Snapshot) {
		big := s.JobSet("big")
		Expect(c, big, HavePartRunning(4, 1))
		Expect(c, big, HaveNoWorkload())
	},
}, {
	Name: "big-each-role-within-quota", Step: 7, JobSet: "big",
	Symptom: "Kueue adds the roles up and admits none of the pods, though three GPUs are free",

	Check: func(c *Check, s *snapshot.Snapshot) {
		big := s.JobSet("big")
		Expect(c, s.Queue(), LendNothing(s.GPUResource, 3))
		Expect(c, big.Workload(), HavePodSet("leader", 2))
		Expect(c, big.Workload(), HavePodSet("worker", 2))
		Expect(c, big.Workload(), BeRefusedQuota())
		Expect(c, big, BeSuspended())
		Expect(c, big, HaveNeverHadAPod())
	},
	Lasting: true,
}}
