package steps

import (
	"context"
	"fmt"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	. "gsb.test/jobset-e2e/e2e/matchers/probes"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// What the probes ask, in the words of the lab text.
const (
	oneWorker   = "jobset.sigs.k8s.io/replicatedjob-name=worker,batch.kubernetes.io/job-completion-index=1"
	noSuchName  = "no-jobset-of-this-name"
	withoutAny  = "mistakes/eval-without-successpolicy.yaml"
	resolvConf  = "cat /etc/resolv.conf"
	shortLookup = "nslookup hello-leader-0-0.hello"
	fullLookup  = "nslookup hello-leader-0-0.hello.ml.svc.cluster.local"
	whichLookup = "nslookup --help"
)

func byJobSetName(name string) string { return jobsetv1.JobSetNameKey + "=" + name }

func askMachine(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
	return me.AskMachine(ctx, s)
}

// probes are the specs of what the lab text claims (fixtures/claims.yaml) and neither a
// step nor a mistake proves.
var probes = []lab.Probe{{
	Name: "one-k3s",
	Ask:  askMachine,
	Elsewhere: func(s *snapshot.Snapshot) string {
		for name, provider := range s.Answers.Machine.Nodes {
			if strings.HasPrefix(provider, "kind://") {
				return fmt.Sprintf("Node %s is kind's, which stands for the VM here (Kubernetes %s).", name, s.Answers.Machine.Kubernetes)
			}
		}
		return ""
	},
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, *s.Answers.Machine, BeOneK3s()) },
}, {
	Name:  "jobset-version",
	Ask:   askMachine,
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, *s.Answers.Machine, RunJobSet("v0.13.0")) },
}, {
	Name:      "boot-time",
	Ask:       askMachine,
	Elsewhere: func(s *snapshot.Snapshot) string { return strings.TrimSpace(s.Answers.Machine.Again) },
	Check:     func(c *Check, s *snapshot.Snapshot) { Expect(c, *s.Answers.Machine, BootWithin(4*60)) },
}, {
	Name: "no-search-domain", Step: 2,
	Ask: func(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		return me.AskInPod(ctx, s, s.JobSet("hello").PodAt("worker", 0), whichLookup, resolvConf, shortLookup, fullLookup)
	},
	Elsewhere: func(s *snapshot.Snapshot) string {
		if !strings.Contains(s.Printed(whichLookup).Text, "BusyBox") {
			return "The image of the steps has another nslookup than busybox's."
		}
		return ""
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		Expect(c, s.JobSet("hello").PodAt("leader", 0), AnswerOnlyInFull(s.Printed(resolvConf), s.Printed(shortLookup), s.Printed(fullLookup)))
	},
}, {
	Name: "parts-of-the-name", Step: 2,
	Ask: func(_ context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		me.AskForHosts(s, "hello")
		return nil
	},
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, s.JobSet("hello"), HaveHostsOfItsService()) },
}, {
	// The text's selector names no JobSet: from step 6 on the workers of train are in it too.
	Name: "one-worker-selected", Step: 3,
	Ask: func(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		return me.AskForPods(ctx, s, oneWorker)
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		Expect(c, s.JobSet("hello").PodAt("worker", 1), BeSelectedAlone(oneWorker))
	},
}, {
	Name: "attempt-rises", Step: 4,
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, s.JobSet("fragile"), HaveRisenTogether()) },
}, {
	Name: "all-is-the-default", Step: 5,
	Ask: func(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		return me.AskDryRun(ctx, s, withoutAny)
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		Expect(c, s.Answers.DryRuns[withoutAny], DefaultTo(jobsetv1.OperatorAll))
	},
}, {
	Name: "jobset-columns", Step: 8,
	Ask: func(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		return me.AskTable(ctx, s, "jobsets")
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		Expect(c, s, ShowEachJobSet("RESTARTS", "COMPLETED", "SUSPENDED"))
	},
}, {
	Name: "workloads-listed", Step: 8,
	Ask: func(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		return me.AskTable(ctx, s, "workloads")
	},
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, s, ShowEachWorkload("QUEUE", "ADMITTED")) },
}, {
	Name: "pods-by-jobset-name", Step: 8,
	Ask: func(ctx context.Context, me *lab.Learner, s *snapshot.Snapshot) error {
		for _, jobSet := range s.JobSets {
			if err := me.AskForPods(ctx, s, byJobSetName(jobSet.Name)); err != nil {
				return err
			}
		}
		return me.AskForPods(ctx, s, byJobSetName(noSuchName))
	},
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, s, BeSelectedByName(byJobSetName, noSuchName)) },
}, {
	Name: "no-queue-no-workload", Step: 8,
	Check: func(c *Check, s *snapshot.Snapshot) { Expect(c, s, QueueOnlyWhatIsLabelled()) },
}}
