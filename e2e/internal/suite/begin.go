package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/evidence"
	"gsb.test/jobset-e2e/e2e/internal/interrupts"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// begin is all that comes before the first step: the environment check, the Lease,
// what an earlier run left, and the watch.
func (s *Suite) begin(ctx ginkgo.SpecContext) {
	// An interrupt from before is reported at the end, and nothing is begun.
	if s.early.heard() {
		ginkgo.AbortSuite("The run was interrupted before the cluster was asked anything.")
	}
	ginkgo.DeferCleanup(interrupts.HandleSignals(s.cluster))
	must(report.ClearEvidence(s.cluster))
	reading, done := s.cluster.WithInterrupt(ctx)
	defer done()
	s.facts, s.findings = preflight.AwaitLab(reading, s.cluster, time.Until(s.waitUntil), printWaiting)
	interrupts.AbortIfInterrupted(s.cluster, "while the environment was checked, before any step.")
	if s.facts.Unreachable == nil {
		s.hold(reading)
	}
	s.findings = s.facts.Rejudge(s.findings, s.cluster.Pins)
	if wrong := preflight.Blocking(s.findings); wrong != "" {
		if s.facts.Unreachable == nil {
			evidence.GatherEnvironment(reading, s.cluster, wrong)
		}
		ginkgo.Fail(wrong)
	}
	fmt.Printf("\nIs this the lab?\n%s\n", preflight.Table(s.findings))
	s.cleanUpAfterwards(func(ctx context.Context) error { return ownership.TearDown(ctx, s.cluster) })
	said, err := ownership.RemoveUnmanaged(reading, s.cluster)
	fmt.Print(text.Visible(said))
	s.mustBefore(err)
	s.mustBefore(ownership.CleanUpPreviousRun(reading, s.cluster))
	watching, stop := context.WithCancel(context.Background())
	ginkgo.DeferCleanup(stop)
	s.mustBefore(s.cluster.Watch(watching))
}

// hold takes the lab's Lease for this run.
func (s *Suite) hold(ctx context.Context) {
	lost := func(cause error) { interrupts.LoseLab(s.cluster, cause) }
	release, err := preflight.AwaitHold(ctx, s.cluster, time.Until(s.waitUntil), "lab-e2e run", lost, printWaiting)
	interrupts.AbortIfInterrupted(s.cluster, "while it was asked whether another run is on the lab, before any step.")
	must(s.facts.Held(err))
	s.cleanUpAfterwards(release)
}

// cleanUpAfterwards cleans up at the end, within what an interrupt leaves of time.
func (s *Suite) cleanUpAfterwards(cleanUp func(context.Context) error) {
	ginkgo.DeferCleanup(func(ctx ginkgo.SpecContext) {
		ending, done := interrupts.CleanupContext(s.cluster, ctx)
		defer done()
		must(cleanUp(ending))
	})
}

// mustBefore fails the suite before the first step.
func (s *Suite) mustBefore(err error) {
	ginkgo.GinkgoHelper()
	interrupts.AbortIfInterrupted(s.cluster, "before any step.")
	must(err)
}

// must fails with the error's own words, which name the cause and the fix.
func must(err error) {
	ginkgo.GinkgoHelper()
	if err != nil {
		ginkgo.Fail(visible(err))
	}
}

func visible(err error) string { return text.Visible(err.Error()) }
