package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	controllerlog "sigs.k8s.io/controller-runtime/pkg/log"

	"gsb.test/jobset-e2e/e2e/answers"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/steps"
)

func answersCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "answers [NAME ...]", Short: "Do the steps in the many ways in which people do them, and require the right verdict on each",
		Long: "Types every answer of fixtures/answers into a shell, as a learner does, and requires that\n" +
			"a run and a check judge it as its file says. Only for a whole lab in which namespace ml\n" +
			"has no JobSet. It needs kubectl on PATH. What the answers made is removed.\n\n" +
			"Exit status: 0 each was judged rightly, 1 one was not, 2 could not run."}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "reports", "LAB_REPORTS", "where the work directory of each answer goes")
	list := command.Flags().Bool("list", false, "only list the answers, or those that are named")
	into := command.Flags().String("record", "", "write what each answer was judged by into this directory, as test data")
	command.RunE = func(command *cobra.Command, names []string) error {
		chosen, err := answers.Catalogue(names)
		if err != nil {
			return err
		}
		if *list {
			fmt.Println(answers.Listing(chosen))
			return nil
		}
		if *into != "" && len(names) > 0 {
			return errors.New("--record takes no names: the answers on the solved lab are recorded with that lab")
		}
		root, err := settings.Root()
		if err != nil {
			return err
		}
		settings, err := settings.ReadSettings(given.getenv, root)
		if err != nil {
			return err
		}
		settings.Files, settings.JobSets = steps.Course.Files(), steps.Course.JobSets()
		// What the client libraries log of streams that are cut off is no news.
		controllerlog.SetLogger(klog.Logger{})
		klog.SetOutput(io.Discard)
		klog.LogToStderr(false)
		ctx, out, stop := untilInterrupted(command.Context(), "removing what the answers made", "what the answers made may still be there. To remove it, type: FRESH=1 make steps")
		defer stop()
		run := &answers.Run{Settings: settings, Answers: chosen, RecordInto: *into, Out: out}
		wrong, err := run.Do(ctx)
		if err == nil && wrong > 0 {
			return status(report.ExitFailed)
		}
		return err
	}
	return command
}
