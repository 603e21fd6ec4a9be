package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/fixtures"
)

func claimsCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "claims", Short: "List what the lab text claims, what proves it, and how the last run found it", Args: cobra.NoArgs}
	given.flag(command, "reports", "LAB_REPORTS", "where the reports of the run are")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := settings.Root()
		if err != nil {
			return err
		}
		return printClaims(command.OutOrStdout(), settings.DefaultPaths(given.getenv, root))
	}
	command.SetOut(os.Stdout)
	return command
}

// printClaims prints the list with the results of the run whose verdict lies there. A
// verdict without results, or of another list, leaves what can be proven not run.
func printClaims(out io.Writer, s settings.Settings) error {
	list, err := fixtures.ReadClaims()
	if err != nil {
		return err
	}
	var none report.Summary
	none.JudgeClaims(list)
	verdict, unread := report.ReadVerdict(s)
	of := "no run: " + s.Reports + " has no verdict of one that judged them"
	if unread == nil && report.SameClaims(none.Claims, verdict.Claims) {
		none.Claims = verdict.Claims
		of = fmt.Sprintf("the run that began %s (%s)", verdict.Started.UTC().Format(time.DateTime+" UTC"), verdict.Verdict)
	}
	count := report.CountClaims(none.Claims)
	_, err = fmt.Fprintf(out, "%s\n\n%s\n%s\nof %s\n", report.ClaimTable(none.Claims), count.KO, count.EN, of)
	return err
}
