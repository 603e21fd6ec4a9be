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

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/lab"
)

// run is what the suite knows of its one run.
var run struct {
	settings settings.Settings
	plan     lab.Plan
	world    *cluster.Cluster
	site     *preflight.Facts
	findings []preflight.Finding
	closing  report.Summary

	// waitUntil is how long the lab may take to boot, its kubeconfig included.
	waitUntil time.Time
	early     earlyInterrupt
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
	early := hearEarly()
	defer early.stop()
	run.early = early
	if err := prepare(getenv); err != nil {
		return refuseToRun(getenv, err)
	}
	if got := early.before(); got != nil {
		run.reported()
		return refuseToRun(getenv, fmt.Errorf("interrupted (%s) before anything was looked at", got))
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
	reporter.JUnitReport, reporter.JSONReport = report.JUnitReport(run.settings), report.SpecsReport(run.settings)

	gomega.RegisterFailHandler(Fail)
	cluster.SetWaits()
	run.plan.Define(func() *cluster.Cluster { return run.world })
	succeeded := RunSpecs(&outcome{}, "JobSet lab", suite, reporter)
	closing, overruled := run.closing.Reconcile(succeeded)
	if err := report.CheckReports(run.settings); err != nil {
		closing, overruled = closing.Unreported(err), true
	}
	if got := early.before(); got != nil {
		closing, overruled = closing.NotBegun(fmt.Sprintf("interrupted (%s) before anything was looked at", got)), true
	}
	if overruled {
		run.closing = closing
		if err := report.SaveClosing(run.settings, closing); err != nil {
			run.closing = closing.Unreported(err)
			fmt.Fprintln(os.Stderr, err)
		}
	}
	fmt.Printf("\n%s\n", run.closing)
	return run.closing.Exit()
}

// An earlyInterrupt is a wish to end that is heard before the suite heeds any.
type earlyInterrupt struct{ heard chan os.Signal }

// hearEarly listens from the program's first moment on: what comes while settings are
// read and specs are made must neither kill without a word nor end in Ginkgo's traces.
// HeedInterrupts takes over by taking the signals away from whoever listens.
func hearEarly() earlyInterrupt {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	return earlyInterrupt{heard}
}

// before is the signal that came before the suite began; nil if none did.
func (e earlyInterrupt) before() os.Signal {
	select {
	case got := <-e.heard:
		return got
	default:
		return nil
	}
}

func (e earlyInterrupt) stop() { signal.Stop(e.heard) }

// prepare reads what is asked for and of which lab, without a word to the cluster.
func prepare(getenv func(string) string) error {
	root, err := settings.Root()
	if err != nil {
		return err
	}
	if run.plan, err = course.Plan(getenv("LAB_STEP")); err != nil {
		return err
	}
	if err := awaitKubeconfig(getenv); err != nil {
		return err
	}
	if run.settings, err = settings.ReadSettings(getenv, root); err != nil {
		return err
	}
	run.settings.Files, run.settings.JobSets = course.Files(), course.JobSets()
	if run.world, err = cluster.Connect(run.settings); err != nil {
		return err
	}
	run.reported, err = report.Begin(run.settings)
	return err
}

// refuseToRun tells one error and nothing around it, and leaves it as the verdict.
func refuseToRun(getenv func(string) string, err error) int {
	fmt.Fprintf(os.Stderr, "Nothing was run: %s\n", text.Visible(err.Error()))
	if root, lost := settings.Root(); lost == nil {
		report.SaveRefusal(settings.DefaultPaths(getenv, root), err)
	}
	return report.ExitNotRun
}

var _ = BeforeSuite(func(ctx SpecContext) {
	// An interrupt from before is told at the end, and nothing is begun.
	if len(run.early.heard) > 0 {
		AbortSuite("The run was interrupted before anything was looked at.")
	}
	DeferCleanup(lab.HandleSignals(run.world))
	must(report.ClearEvidence(run.world))
	looking, looked := run.world.WithInterrupt(ctx)
	defer looked()
	run.site, run.findings = preflight.AwaitLab(looking, run.world, time.Until(run.waitUntil), tellOfWaiting)
	lab.AbortIfInterrupted(run.world, "while the lab was looked at, before any step.")
	if run.site.Unreachable == nil {
		release, err := preflight.AwaitHold(looking, run.world, time.Until(run.waitUntil), "lab-e2e run", func(cause error) { lab.Lose(run.world, cause) }, tellOfWaiting)
		lab.AbortIfInterrupted(run.world, "while it was asked whether another run is on the lab, before any step.")
		must(run.site.Held(err))
		DeferCleanup(func(ctx SpecContext) {
			ending, ended := lab.Ending(run.world, ctx)
			defer ended()
			must(release(ending))
		})
	}
	run.findings = run.site.Rejudge(run.findings, run.world.Pins)
	if wrong := preflight.Blocking(run.findings); wrong != "" {
		if run.site.Unreachable == nil {
			lab.GatherPreflight(looking, run.world, wrong)
		}
		Fail(wrong)
	}
	fmt.Printf("\nIs this the lab?\n%s\n", preflight.Table(run.findings))
	DeferCleanup(func(ctx SpecContext) {
		ending, ended := lab.Ending(run.world, ctx)
		defer ended()
		must(ownership.TearDown(ending, run.world))
	})
	told, err := ownership.RemoveUnmanaged(looking, run.world)
	fmt.Print(text.Visible(told))
	lab.AbortIfInterrupted(run.world, "before any step.")
	must(err)
	err = ownership.CleanUpPreviousRun(looking, run.world)
	lab.AbortIfInterrupted(run.world, "before any step.")
	must(err)

	watching, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	err = run.world.Watch(watching)
	lab.AbortIfInterrupted(run.world, "before any step.")
	must(err)
})

// must fails with the error's own words, which name the cause and the mend.
func must(err error) {
	GinkgoHelper()
	if err != nil {
		Fail(text.Visible(err.Error()))
	}
}

// A line for each step as it begins, in front of the dots that Ginkgo prints.
var heading report.Heading

var _ = ReportBeforeEach(func(report SpecReport) {
	if run.world != nil {
		fmt.Print(heading.Before(report))
	}
})

var _ = ReportAfterSuite("the closing block", func(results Report) {
	run.closing = report.Summarize(results, run.plan.Items(), run.site, run.world.Pins)
	run.closing.Run, run.closing.Findings = run.settings.Run, run.findings
	run.closing.Locations = report.LocationsOf(run.world)
	must(report.SaveClosing(run.settings, run.closing))
})
