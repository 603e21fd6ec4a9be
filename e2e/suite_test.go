// Package e2e walks the eight steps of the lab on a real cluster and judges each
// by what the cluster and the learner's files show. It knows nothing of how the
// lab was made: LAB_KUBECONFIG is all that it is told. The steps are records,
// one file each; the words that they are written in are package lab's.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"golang.org/x/term"
	"k8s.io/klog/v2"
	controllerlog "sigs.k8s.io/controller-runtime/pkg/log"

	"gsb.test/jobset-e2e/e2e/lab"
)

// run is what the suite knows of its one run.
var run struct {
	settings lab.Settings
	plan     lab.Plan
	world    *lab.World
	site     *lab.Site
	findings []lab.Finding
	closing  lab.Closing

	// waitUntil is how long the lab may take to boot, its kubeconfig included.
	waitUntil time.Time
	// reported lets another run write into the folder of the reports.
	reported func()
}

// outcome hears from Ginkgo that a spec failed; the closing block tells which.
type outcome struct{ failed bool }

func (o *outcome) Fail() { o.failed = true }

// cleaningUp is how long gathering evidence may take after an interrupt.
const cleaningUp = time.Minute

// walk is the whole run, and returns its exit status. What is wrong with how it
// was called is told before anything is looked at, and nothing runs.
func walk(getenv func(string) string) int {
	if err := prepare(getenv); err != nil {
		return refuseToRun(getenv, err)
	}
	defer run.reported()
	// A reader who goes away, a lost connection say, ends neither the walk nor what
	// it still has to clean up and to report.
	signal.Ignore(syscall.SIGPIPE)
	// What the client libraries log is for a failure's timeline, not for the
	// reader of a run.
	controllerlog.SetLogger(GinkgoLogr)
	klog.SetLogger(GinkgoLogr)

	suite, reporter := GinkgoConfiguration()
	suite.GracePeriod = cleaningUp
	reporter.Succinct, reporter.SilenceSkips = true, true
	reporter.NoColor = !term.IsTerminal(int(os.Stdout.Fd()))
	reporter.JUnitReport, reporter.JSONReport = run.settings.JUnitReport(), run.settings.SpecsReport()

	gomega.RegisterFailHandler(Fail)
	lab.SetWaits()
	run.plan.Define(func() *lab.World { return run.world })
	succeeded := RunSpecs(&outcome{}, "JobSet lab", suite, reporter)
	if closing, overruled := run.closing.Overrule(succeeded); overruled {
		run.closing = closing
		if err := run.settings.SaveClosing(closing); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	fmt.Printf("\n%s\n", run.closing)
	return run.closing.Exit()
}

// prepare reads what is asked for and of which lab, without a word to the cluster.
func prepare(getenv func(string) string) error {
	root, err := lab.Root()
	if err != nil {
		return err
	}
	if run.plan, err = lab.MakePlan(lab.Steps(), getenv("LAB_STEP")); err != nil {
		return err
	}
	if err := awaitKubeconfig(getenv); err != nil {
		return err
	}
	if run.settings, err = lab.ReadSettings(getenv, root); err != nil {
		return err
	}
	if run.world, err = lab.Connect(run.settings); err != nil {
		return err
	}
	run.reported, err = run.settings.Begin()
	return err
}

// refuseToRun tells one error and nothing around it, and leaves it as the verdict.
func refuseToRun(getenv func(string) string, err error) int {
	fmt.Fprintf(os.Stderr, "Nothing was run: %v\n", err)
	if root, lost := lab.Root(); lost == nil {
		lab.Places(getenv, root).SaveRefusal(err)
	}
	return lab.ExitNotRun
}

var _ = BeforeSuite(func(ctx SpecContext) {
	DeferCleanup(run.world.HeedInterrupts())
	must(run.world.ClearEvidence())
	looking, looked := run.world.Heeding(ctx)
	defer looked()
	run.site, run.findings = run.world.AwaitLab(looking, time.Until(run.waitUntil), tellOfWaiting)
	run.world.EndIfInterrupted("while the lab was looked at, before any step.")
	if run.site.Unreachable == nil {
		release, err := run.world.AwaitHold(looking, time.Until(run.waitUntil), "lab-e2e run", run.world.Lose, tellOfWaiting)
		run.world.EndIfInterrupted("while it was asked whether another run is on the lab, before any step.")
		must(run.site.Held(err))
		DeferCleanup(func(ctx SpecContext) { must(release(ctx)) })
	}
	run.findings = run.site.Rejudge(run.findings, run.world.Pins)
	if wrong := lab.WrongWorld(run.findings); wrong != "" {
		if run.site.Unreachable == nil {
			run.world.GatherPreflight(ctx, wrong)
		}
		Fail(wrong)
	}
	fmt.Printf("\nIs this the lab?\n%s\n", lab.Findings(run.findings))
	DeferCleanup(func(ctx SpecContext) { must(run.world.Leave(ctx)) })
	told, err := run.world.ClearWay(ctx)
	fmt.Print(told)
	must(err)
	must(run.world.Freshen(ctx))

	watching, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	must(run.world.Watch(watching))
	run.world.EndIfInterrupted("before any step.")
})

// must fails with the error's own words, which name the cause and the mend.
func must(err error) {
	GinkgoHelper()
	if err != nil {
		Fail(err.Error())
	}
}

// A line for each step as it begins, in front of the dots that Ginkgo prints.
var heading lab.Heading

var _ = ReportBeforeEach(func(report SpecReport) {
	if run.world != nil {
		fmt.Print(heading.Before(report))
	}
})

var _ = ReportAfterSuite("the closing block", func(report Report) {
	run.closing = lab.Close(report, run.plan, run.site, run.world.Pins)
	run.closing.Run, run.closing.Findings = run.settings.Run, run.findings
	run.closing.Lies = run.world.Lies()
	must(run.settings.SaveClosing(run.closing))
})
