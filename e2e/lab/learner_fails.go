package lab

import (
	"strings"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/interrupts"
	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/matchers"
)

// by notes one thing that the learner does.
func (me *Learner) by(action string) {
	ginkgo.GinkgoHelper()
	if me.attempt == nil {
		ginkgo.By(action)
		return
	}
	me.attempt.actions = append(me.attempt.actions, action)
}

// stop fails the spec; what is done outside of one ends here.
func (me *Learner) stop(message string) {
	ginkgo.GinkgoHelper()
	if me.attempt == nil {
		ginkgo.Fail(message)
	}
	if me.attempt.failed == nil {
		me.attempt.failed = func() { ginkgo.Fail(message) }
	}
	panic(stopped{message})
}

// failWith fails the spec for one reason, whatever the snapshot of end was taken for.
func (me *Learner) failWith(stage string, why *matchers.Mismatch, end outcome) {
	ginkgo.GinkgoHelper()
	end.mismatches = []*matchers.Mismatch{why}
	me.fail(stage, end)
}

// fail reports the failure as data and as text, and fails the spec.
func (me *Learner) fail(stage string, end outcome) {
	ginkgo.GinkgoHelper()
	failure := newFailure(stage, end)
	failureReport := me.failureReport(failure, end.last)
	seen := me.seen(failureReport)
	failureReport.Evidence = me.evidence
	message := failureReport.String()
	failed := func() {
		ginkgo.GinkgoHelper()
		interrupts.AbortIfInterrupted(me.cluster, strings.TrimSuffix("while waiting: "+text.FirstLine(failure.EN), ".")+".")
		failureReport.Report()
		seen.Report()
		if me.reported {
			ginkgo.Skip(failure.Stage + ": " + text.FirstLine(failure.EN))
		}
		ginkgo.Fail(message)
	}
	if me.attempt == nil {
		failed()
	}
	me.attempt.failed = failed
	panic(stopped{message})
}

// seen is what this was judged by, for the page of the run.
func (me *Learner) seen(about report.FailureReport) page.Seen {
	return page.SeenOf(about.Snapshot, about.JobSets, about.Files, me.judge)
}
