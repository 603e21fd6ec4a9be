// Package e2e walks the eight steps of the lab on a real cluster and judges each
// by what the cluster and the learner's files show. It knows nothing of how the
// lab was made: LAB_KUBECONFIG is all that it is told. The steps are records,
// one file each; the words that they are written in are package lab's.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"golang.org/x/term"
	"k8s.io/klog/v2"
	controllerlog "sigs.k8s.io/controller-runtime/pkg/log"

	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/fixtures"
)

// run is what the suite knows of its one run.
var run struct {
	settings lab.Settings
	plan     lab.Plan
	world    *lab.World
	site     *lab.Site
	closing  string
}

var list = flag.Bool("list", false, "list the steps and run nothing")

// TestMain lets the test program list its steps.
func TestMain(m *testing.M) {
	flag.Parse()
	if *list {
		fmt.Println(lab.Listing(lab.Steps()))
		return
	}
	os.Exit(m.Run())
}

// TestE2E is the whole run. What is wrong with how it was called is told before
// anything is looked at, and nothing runs.
func TestE2E(t *testing.T) {
	suite, reporter := GinkgoConfiguration()
	plan, err := lab.MakePlan(lab.Steps(), os.Getenv("STEP"))
	if err != nil {
		refuseToRun(err)
	}
	run.plan = plan
	if !suite.DryRun {
		root, err := lab.Root()
		if err != nil {
			refuseToRun(err)
		}
		if run.settings, err = lab.ReadSettings(os.Getenv, root); err != nil {
			refuseToRun(err)
		}
		if run.world, err = lab.Connect(run.settings); err != nil {
			refuseToRun(err)
		}
	}
	// What the client libraries log is for a failure's timeline, not for the
	// reader of a run.
	controllerlog.SetLogger(GinkgoLogr)
	klog.SetLogger(GinkgoLogr)

	reporter.NoColor = reporter.NoColor || !term.IsTerminal(int(os.Stdout.Fd()))

	gomega.RegisterFailHandler(Fail)
	lab.SetWaits()
	plan.Define(func() *lab.World { return run.world })
	RunSpecs(t, "JobSet lab", suite, reporter)
	fmt.Printf("\n%s\n", run.closing)
}

// refuseToRun ends the program with one error and nothing around it.
func refuseToRun(err error) {
	fmt.Fprintf(os.Stderr, "Nothing was run: %v\n", err)
	os.Exit(1)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	DeferCleanup(run.world.HeedInterrupts())
	must(run.world.ClearEvidence())
	run.site = run.world.Survey(ctx)
	run.world.EndIfInterrupted("while the lab was looked at, before any step.")
	findings := lab.Preflight(run.site, run.world.Pins)
	if wrong := lab.WrongWorld(findings); wrong != "" {
		if run.site.Unreachable == nil {
			run.world.GatherPreflight(ctx, wrong)
		}
		Fail(wrong)
	}
	fmt.Printf("\nIs this the lab?\n%s\n", lab.Findings(findings))
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
	if report.SuiteConfig.DryRun {
		return
	}
	pins, err := fixtures.ReadPins()
	must(err)
	_, reporter := GinkgoConfiguration()
	closing := lab.Close(report, run.plan, run.site, pins)
	closing.Lies = run.settings.Lies(reporter.JUnitReport, reporter.JSONReport)
	run.closing = closing.String()
	must(run.settings.SaveClosing(run.closing))
})
