// Package suite is one run of a course on one lab, as Ginkgo specs: what comes before
// the first step, the specs, and what is made of their results.
package suite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	"k8s.io/klog/v2"
	controllerlog "sigs.k8s.io/controller-runtime/pkg/log"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/fixtures"
)

// A Suite is one run of a course.
type Suite struct {
	course   lab.Course
	settings settings.Settings
	plan     lab.Plan
	cluster  *cluster.Cluster
	facts    *preflight.Facts
	findings []preflight.Finding
	summary  report.Summary

	// waitUntil is how long the lab may take to boot, its kubeconfig included.
	waitUntil time.Time
	early     earlyInterrupt
	// endReports lets another run write into the folder of the reports.
	endReports func()
}

// gracePeriod is how long gathering evidence may take after an interrupt.
const gracePeriod = time.Minute

// New returns a run that has not begun, and listens for signals from now on.
func New(course lab.Course) *Suite {
	return &Suite{course: course, early: listenEarly(), endReports: func() {}}
}

// Prepare reads what is asked for and of which lab, without a word to the cluster.
func (s *Suite) Prepare(getenv func(string) string) error {
	root, err := settings.Root()
	if err != nil {
		return err
	}
	if s.plan, err = s.course.Plan(getenv("LAB_STEP")); err != nil {
		return err
	}
	if err := s.awaitKubeconfig(getenv); err != nil {
		return err
	}
	if s.settings, err = settings.ReadSettings(getenv, root); err != nil {
		return err
	}
	s.settings.Files, s.settings.JobSets = s.course.Files(), s.course.JobSets()
	if s.cluster, err = cluster.Connect(s.settings); err != nil {
		return err
	}
	if s.endReports, err = report.Begin(s.settings); err != nil {
		return err
	}
	if got := s.early.signal(); got != nil {
		s.endReports()
		return fmt.Errorf("interrupted (%s) before the cluster was asked anything", got)
	}
	return nil
}

// Run runs the specs with Ginkgo's own configuration, prints the closing block and
// returns the exit status; see report.Exit….
func (s *Suite) Run(t ginkgo.GinkgoTestingT, suiteConfig types.SuiteConfig, reporterConfig types.ReporterConfig) int {
	defer s.early.stop()
	defer s.endReports()
	// A reader who goes away, a lost connection say, ends neither the run nor what
	// it still has to clean up and to report.
	signal.Ignore(syscall.SIGPIPE)
	// What the client libraries log is for a failure's timeline, not for the
	// reader of a run.
	controllerlog.SetLogger(ginkgo.GinkgoLogr)
	klog.SetLogger(ginkgo.GinkgoLogr)

	suiteConfig.GracePeriod = gracePeriod
	reporterConfig.JUnitReport, reporterConfig.JSONReport = report.JUnitReport(s.settings), report.SpecsReport(s.settings)
	formatter.ColorableStdOut = exceptOfInterrupts{formatter.ColorableStdOut, s.early}
	gomega.RegisterFailHandler(ginkgo.Fail)
	cluster.SetWaits()
	s.define()
	succeeded := ginkgo.RunSpecs(t, "JobSet lab", suiteConfig, reporterConfig)
	s.reconcile(succeeded)
	fmt.Printf("\n%s\n", s.summary)
	s.writePage()
	return s.summary.Exit()
}

// define makes the specs.
func (s *Suite) define() {
	ginkgo.BeforeSuite(s.begin)
	s.plan.Define(func() *cluster.Cluster { return s.cluster })
	// A line for each step as it begins, in front of the dots that Ginkgo prints.
	var heading report.Heading
	ginkgo.ReportBeforeEach(func(report ginkgo.SpecReport) { fmt.Print(heading.Before(report)) })
	ginkgo.ReportAfterSuite("the closing block", func(results ginkgo.Report) {
		s.summary = report.Summarize(results, s.plan.Items(), s.facts, s.cluster.Pins)
		s.summary.Run, s.summary.Findings = s.settings.Run, s.findings
		s.summary.Locations = report.LocationsOf(s.cluster)
		claims, err := fixtures.ReadClaims()
		must(err)
		s.summary.JudgeClaims(claims)
		must(page.Record(s.cluster, results))
		must(report.SaveClosing(s.settings, s.summary))
	})
}

// reconcile fails a summary that is better than what Ginkgo, or a report that could
// not be written, says of the run in the end.
func (s *Suite) reconcile(succeeded bool) {
	summary, changed := s.summary.Reconcile(succeeded)
	if err := report.CheckReports(s.settings); err != nil {
		summary, changed = summary.Unreported(err), true
	}
	if got := s.early.signal(); got != nil {
		summary, changed = summary.NotBegun(fmt.Sprintf("interrupted (%s) before the cluster was asked anything", got)), true
	}
	if !changed {
		return
	}
	s.summary = summary
	if err := report.SaveClosing(s.settings, summary); err != nil {
		s.summary = summary.Unreported(err)
		fmt.Fprintln(os.Stderr, err)
	}
}

// Refuse reports one error and nothing around it, leaves it as the verdict, and
// returns the exit status.
func Refuse(out io.Writer, getenv func(string) string, err error) int {
	fmt.Fprintf(out, "Nothing was run: %s\n", visible(err))
	if root, lost := settings.Root(); lost == nil {
		places := settings.DefaultPaths(getenv, root)
		report.SaveRefusal(places, err)
		_ = page.Write(places) // where it cannot be written, there is nothing more to say either
	}
	return report.ExitNotRun
}

// writePage makes the page of the run, the last thing that it does: who waits for the
// end of an interrupted run does not wait for it. It decides nothing.
func (s *Suite) writePage() {
	if err := errors.Join(page.Remember(s.settings.Reports, s.summary.ToVerdict()), page.Write(s.settings)); err != nil {
		fmt.Fprintln(os.Stderr, visible(err))
	}
}
