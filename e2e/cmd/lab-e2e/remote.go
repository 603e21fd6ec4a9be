package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/suite"
	"gsb.test/jobset-e2e/e2e/steps"
)

// cleanupCommand removes what a run left that was killed. A run that comes to its
// own end does so itself.
func cleanupCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "cleanup", Short: "Remove what a run that was killed left: its JobSets, and its files that nobody changed since", Args: cobra.NoArgs}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "workdir", "LAB_WORKDIR", "the folder that stands for /root/gsb-jobset")
	given.flag(command, "reports", "LAB_REPORTS", "where the reports of that run lie")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := settings.Root()
		if err != nil {
			return err
		}
		cluster.SetWaits()
		settings := settings.DefaultPaths(given.getenv, root)
		settings.Files, settings.JobSets = steps.Course.Files(), steps.Course.JobSets()
		return plainError(suite.Cleanup(command.Context(), settings))
	}
	return command
}

// receiveCommand is for a gate whose run was on another machine; see .ci/gate.
func receiveCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "receive", Short: "Take the reports of a run on another machine, as a tar archive on standard input", Args: cobra.NoArgs, Hidden: true}
	given.flag(command, "reports", "LAB_REPORTS", "where the reports and the evidence go")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := settings.Root()
		if err != nil {
			return err
		}
		places := settings.DefaultPaths(given.getenv, root)
		if err := report.Receive(places, command.InOrStdin()); err != nil {
			return plainError(err)
		}
		// The page that the other machine made is not taken: it could be any page.
		return plainError(page.Write(places))
	}
	return command
}

// plainError prints an error of a command that is no run: only of a run does the
// message begin with "not run".
func plainError(err error) error {
	if err == nil {
		return nil
	}
	fmt.Fprintln(os.Stderr, err)
	return status(report.ExitNotRun)
}
