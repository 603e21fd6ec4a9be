// Command lab-e2e runs the JobSet lab's steps on a cluster and judges them, grades a
// learner's work, and breaks a lab to see that a run reports why.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/suite"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/steps"
)

func main() { os.Exit(program(os.Args[1:])) }

// status is an error that has been printed already: only the exit status is left of it.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// program runs one command of lab-e2e and returns its exit status; see lab.Exit….
func program(args []string) int {
	root := &cobra.Command{
		Use:   "lab-e2e",
		Short: "Runs the eight steps of the JobSet lab on a cluster, and judges them",
		Long: "Runs the eight steps of the JobSet lab on a cluster, and judges them.\n\n" +
			"Exit status: 0 passed, 3 partial (it says why), 1 failed, 2 could not run.",
		Version:       report.Commit,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(runCommand(), checkCommand(), planCommand(), listCommand(), claimsCommand(), summaryCommand(), faultsCommand(), answersCommand(), cleanupCommand(), receiveCommand(), reportCommand())
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var printed status
	switch {
	case err == nil:
		return report.ExitPassed
	case errors.As(err, &printed):
		return int(printed)
	}
	fmt.Fprintf(os.Stderr, "Nothing was run: %s\n", text.Visible(err.Error()))
	return report.ExitNotRun
}

// A plan stands between a request and the lab that is made for it: a request that
// cannot be met is refused before, and if the lab does not come to be, the verdict
// of an earlier run is not there to be taken for this one's.
func planCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "plan", Short: "Say what a run would do, and leave a verdict of \"not run\" until one has", Args: cobra.NoArgs}
	given.flag(command, "reports", "LAB_REPORTS", "where the reports and the evidence go")
	given.flag(command, "step", "LAB_STEP", "one step, by number or name, with what it needs")
	reason := command.Flags().String("reason", "no run has begun: what comes before it still goes on, or has failed or been interrupted", "why none has, for the verdict")
	command.RunE = func(*cobra.Command, []string) error {
		plan, err := steps.Course.Plan(given.getenv("LAB_STEP"))
		if err != nil {
			return status(suite.Refuse(os.Stderr, given.getenv, err))
		}
		root, err := settings.Root()
		if err != nil {
			return err
		}
		places := settings.DefaultPaths(given.getenv, root)
		report.SaveRefusal(places, errors.New(*reason))
		_ = page.Write(places) // without reports there is no page
		fmt.Println(lab.Listing(append(plan.First, plan.Asked...)))
		return nil
	}
	return command
}

func listCommand() *cobra.Command {
	return &cobra.Command{Use: "list [STEP]", Short: "List the steps, or the one that is named: what each refuses and accepts", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := steps.Course.Plan(strings.Join(args, ""))
			if err != nil {
				return err
			}
			fmt.Println(listing(plan.Asked))
			return nil
		}}
}

// flags maps the variables of the environment to the flags that set them.
type flags map[string]*string

func (s flags) flag(c *cobra.Command, name, variable, usage string) {
	s[variable] = c.Flags().String(name, "", usage+" ($"+variable+")")
}

// toggle is a flag that stands for a variable which is 1.
func (s flags) toggle(c *cobra.Command, name, variable, usage string) {
	value := new(string)
	s[variable] = value
	c.Flags().BoolFunc(name, usage+" ($"+variable+"=1)", func(string) error {
		*value = "1"
		return nil
	})
}

// getenv is os.Getenv for a variable that no flag stands for.
func (s flags) getenv(variable string) string {
	if given, ok := s[variable]; ok && *given != "" {
		return *given
	}
	return os.Getenv(variable)
}

func runCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "run", Short: "Do the steps as a learner does, and judge each"}
	// A slip of the pen must not leave an earlier run's verdict standing either.
	refuse := func(_ *cobra.Command, err error) error { return status(suite.Refuse(os.Stderr, given.getenv, err)) }
	command.SetFlagErrorFunc(refuse)
	command.Args = func(c *cobra.Command, args []string) error {
		if err := cobra.NoArgs(c, args); err != nil {
			return refuse(c, err)
		}
		return nil
	}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "workdir", "LAB_WORKDIR", "the folder that stands for /root/gsb-jobset")
	given.flag(command, "reports", "LAB_REPORTS", "where the reports and the evidence go")
	given.flag(command, "step", "LAB_STEP", "one step, by number or name, with what it needs")
	given.flag(command, "image", "LAB_IMAGE", "an image that the lab has, in place of the one that the learner's files name; it needs sh, sleep and nslookup")
	given.flag(command, "wait", "LAB_WAIT", "wait that long, such as 5m, for a lab that still boots: again while all that is wrong passes by itself")
	given.toggle(command, "keep", "LAB_KEEP", "leave the run's JobSets in the lab, to be looked at or graded")
	given.toggle(command, "fresh", "LAB_FRESH", "take a learner's JobSets away first, and move the learner's files aside")
	strict := command.Flags().Bool("strict", false, "a partial verdict is exit status 1, as a gate wants it")
	command.RunE = func(*cobra.Command, []string) error {
		code := run(given.getenv)
		if code == report.ExitPartial && *strict {
			code = report.ExitFailed
		}
		if code != report.ExitPassed {
			return status(code)
		}
		return nil
	}
	return command
}

// outcome learns from Ginkgo that a spec failed; the closing block says which.
type outcome struct{}

func (outcome) Fail() {}

// run is a whole run, and returns its exit status. What is wrong with how it was
// called is reported before the cluster is asked anything, and nothing runs.
func run(getenv func(string) string) int {
	s := suite.New(steps.Course)
	if err := s.Prepare(getenv); err != nil {
		return suite.Refuse(os.Stderr, getenv, err)
	}
	suiteConfig, reporterConfig := ginkgo.GinkgoConfiguration()
	reporterConfig.Succinct, reporterConfig.SilenceSkips = true, true
	reporterConfig.NoColor = !term.IsTerminal(int(os.Stdout.Fd()))
	return s.Run(outcome{}, suiteConfig, reporterConfig)
}
