// Package e2e walks the eight steps of the lab on a real cluster and judges each
// by what the cluster and the learner's files show. It knows nothing of how the
// lab was made: LAB_KUBECONFIG is all that it is told. The steps are records,
// one file each; the words that they are written in are package lab's.
package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
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
	reporter.JUnitReport, reporter.JSONReport = run.settings.JUnitReport(), run.settings.SpecsReport()

	formatter.ColorableStdOut = exceptOfInterrupts{formatter.ColorableStdOut, early}
	gomega.RegisterFailHandler(Fail)
	lab.SetWaits()
	run.plan.Define(func() *lab.World { return run.world })
	succeeded := RunSpecs(&outcome{}, "JobSet lab", suite, reporter)
	closing, overruled := run.closing.Overrule(succeeded)
	if err := run.settings.CheckReports(); err != nil {
		closing, overruled = closing.Unreported(err), true
	}
	if got := early.before(); got != nil {
		closing, overruled = closing.NotBegun(fmt.Sprintf("interrupted (%s) before anything was looked at", got)), true
	}
	if overruled {
		run.closing = closing
		if err := run.settings.SaveClosing(closing); err != nil {
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

// exceptOfInterrupts drops what Ginkgo says of a signal that it heard itself, in the
// moment before the suite takes the signals over: it calls that a failure.
type exceptOfInterrupts struct {
	io.Writer
	early earlyInterrupt
}

func (w exceptOfInterrupts) Write(text []byte) (int, error) {
	if len(w.early.heard) > 0 {
		return len(text), nil
	}
	return w.Writer.Write(text)
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
	fmt.Fprintf(os.Stderr, "Nothing was run: %s\n", lab.Visible(err.Error()))
	if root, lost := lab.Root(); lost == nil {
		lab.Places(getenv, root).SaveRefusal(err)
	}
	return lab.ExitNotRun
}

var _ = BeforeSuite(func(ctx SpecContext) {
	// An interrupt from before is told at the end, and nothing is begun.
	if len(run.early.heard) > 0 {
		AbortSuite("The run was interrupted before anything was looked at.")
	}
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
		DeferCleanup(func(ctx SpecContext) {
			ending, ended := run.world.Ending(ctx)
			defer ended()
			must(release(ending))
		})
	}
	run.findings = run.site.Rejudge(run.findings, run.world.Pins)
	if wrong := lab.WrongWorld(run.findings); wrong != "" {
		if run.site.Unreachable == nil {
			run.world.GatherPreflight(looking, wrong)
		}
		Fail(wrong)
	}
	fmt.Printf("\nIs this the lab?\n%s\n", lab.Findings(run.findings))
	DeferCleanup(func(ctx SpecContext) {
		ending, ended := run.world.Ending(ctx)
		defer ended()
		must(run.world.Leave(ending))
	})
	told, err := run.world.ClearWay(looking)
	fmt.Print(lab.Visible(told))
	run.world.EndIfInterrupted("before any step.")
	must(err)
	err = run.world.Freshen(looking)
	run.world.EndIfInterrupted("before any step.")
	must(err)

	watching, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	err = run.world.Watch(watching)
	run.world.EndIfInterrupted("before any step.")
	must(err)
})

// must fails with the error's own words, which name the cause and the mend.
func must(err error) {
	GinkgoHelper()
	if err != nil {
		Fail(lab.Visible(err.Error()))
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
