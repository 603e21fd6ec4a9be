package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	controllerlog "sigs.k8s.io/controller-runtime/pkg/log"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/grade"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/steps"
)

// checkHelp is what --help says beyond the flags.
const checkHelp = `Look at the lab and the learner's files once, change nothing, and say step by
step what is passed and what is missing, in Korean and in English.

Exit status: 0 every step asked for is passed, 1 one is not, 2 could not look.

With --json, one object: schema (1), passed, suite (the commit), error and its code
(only where it could not look) and steps, a list of: step (the number), name, title,
passed, ko, en (a sentence each), code (why it is not passed, for a program), whose
(learner or lab: whose trouble that is; of the lab's, cause is its kind and the first
note says it) and, where there are any, notes (a list of ko and en: also what could not
be seen by reading alone and was left out). notes beside steps are of the whole lab: that
its node restarted, and which steps that undid; that its queue is missing; what the
user of the check may not read. cluster and workDirectory say what was looked at.

The rights that it needs, and no others, are in fixtures/check/reader.yaml.`

func checkCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "check", Short: "Grade a learner's work: look, change nothing, say what is missing",
		Long: checkHelp, Args: cobra.NoArgs}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "workdir", "LAB_WORKDIR", "the folder that stands for /root/gsb-jobset")
	given.flag(command, "step", "LAB_STEP", "one step, by number or name")
	asJSON := command.Flags().Bool("json", false, "print JSON, for a lab platform")
	given.flag(command, "reports", "LAB_REPORTS", "where the page of the grades goes, report.html, if there are reports")
	command.RunE = func(c *cobra.Command, _ []string) error {
		began := time.Now()
		grading, err := check(c.Context(), given.getenv)
		if err != nil {
			fmt.Fprintf(os.Stderr, "Nothing was checked: %s\n", text.Visible(err.Error()))
			grading = grade.Ungraded(err)
		}
		var printed error
		switch {
		case *asJSON:
			content, err := json.MarshalIndent(grading, "", "  ")
			if err != nil {
				return fmt.Errorf("writing the grades as JSON: %w", err)
			}
			_, printed = fmt.Println(string(content))
		case err == nil:
			_, printed = fmt.Println(grading)
		}
		if printed != nil { // who asked received nothing, or half of it
			fmt.Fprintf(os.Stderr, "The grades could not be printed: %v\n", printed)
			return status(report.ExitNotRun)
		}
		// The page comes last and decides nothing: a lab platform has its answer already.
		if root, lost := settings.Root(); lost == nil {
			if unwritten := grading.WritePage(settings.DefaultPaths(given.getenv, root), began); unwritten != nil {
				fmt.Fprintf(os.Stderr, "The page of the grades was not written: %s\n", text.Visible(unwritten.Error()))
			}
		}
		switch {
		case err != nil:
			return status(report.ExitNotRun)
		case !grading.Passed:
			return status(report.ExitFailed)
		}
		return nil
	}
	return command
}

// check looks at the lab with a client that only reads, and grades.
func check(ctx context.Context, getenv func(string) string) (grade.Grading, error) {
	// What the client libraries log is not for a learner.
	controllerlog.SetLogger(klog.Logger{})
	klog.SetLogger(klog.Logger{})
	plan, err := steps.Course.Plan(getenv("LAB_STEP"))
	if err != nil {
		return grade.Grading{}, err
	}
	root, err := settings.Root()
	if err != nil {
		return grade.Grading{}, err
	}
	settings, err := settings.ReadSettingsToRead(getenv, root)
	if err != nil {
		return grade.Grading{}, err
	}
	settings.Files = steps.Course.Files()
	target, err := cluster.ConnectToRead(settings)
	if err != nil {
		return grade.Grading{}, err
	}
	return grade.Check(ctx, target, plan.Asked)
}
