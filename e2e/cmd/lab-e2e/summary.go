package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/steps"
)

// summaryCommand prints the reports as Markdown, where GitHub shows a
// job's summary or, on any other machine, here.
func summaryCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "summary", Short: "Print the last run's summary as Markdown", Args: cobra.NoArgs}
	given.flag(command, "reports", "LAB_REPORTS", "where the reports and the evidence lie")
	given.flag(command, "append-to", "GITHUB_STEP_SUMMARY", "the file to add it to, instead of printing it")
	command.RunE = func(*cobra.Command, []string) error {
		root, err := settings.Root()
		if err != nil {
			return err
		}
		places := settings.DefaultPaths(given.getenv, root)
		markdown := report.Markdown(places)
		if verdict, err := report.ReadVerdict(places); err == nil && os.Getenv("GITHUB_ACTIONS") == "true" {
			for _, line := range annotations(verdict, steps.Course) {
				fmt.Println(line)
			}
		}
		path := given.getenv("GITHUB_STEP_SUMMARY")
		if path == "" {
			if _, err := fmt.Print(markdown); err != nil {
				return fmt.Errorf("printing the summary: %w", err)
			}
			return nil
		}
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("adding to the job's summary: %w", err)
		}
		_, err = file.WriteString(markdown)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("adding to the job's summary: %w", err)
		}
		return nil
	}
	return command
}
