package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/e2e/faults"
	"gsb.test/jobset-e2e/e2e/lab"
)

func faultsCommand() *cobra.Command {
	given := surroundings{}
	command := &cobra.Command{Use: "faults [NAME ...]", Short: "Break the lab in every known way, and require that the suite tells each",
		Long: "Breaks the lab in every known way, one after the other, and requires that the suite\n" +
			"tells each by the right spec, in the right words and soon. Each is mended again, and\n" +
			"proven to be. Only for a lab that nobody uses meanwhile.\n\n" +
			"Exit status: 0 every fault was caught and mended, 1 one was not, 2 could not run."}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "reports", "LAB_REPORTS", "where faults.json and a folder for each fault go")
	list := command.Flags().Bool("list", false, "only list the faults, or those that are named")
	command.RunE = func(command *cobra.Command, names []string) error {
		chosen, err := faults.Catalogue(names)
		if err != nil {
			return err
		}
		if *list {
			fmt.Println(faults.Listing(chosen))
			return nil
		}
		root, err := lab.Root()
		if err != nil {
			return err
		}
		settings, err := lab.ReadSettings(func(variable string) string {
			if variable == "LAB_WORKDIR" {
				// Nobody's files but those of the walks on the broken lab are looked at.
				return filepath.Join(cmp.Or(given.getenv("LAB_REPORTS"), filepath.Join(root, ".lab")), "faults", "gsb-jobset")
			}
			return given.getenv(variable)
		}, root)
		if err != nil {
			return err
		}
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding this program, to run it on a broken lab: %w", err)
		}
		ctx, stop := untilInterrupted(command.Context())
		defer stop()
		run := &faults.Run{Settings: settings, Program: program, Faults: chosen, Walk: len(names) == 0, Out: os.Stdout}
		failed, err := run.Do(ctx)
		if err != nil {
			return err
		}
		if failed > 0 {
			return status(lab.ExitFailed)
		}
		return nil
	}
	return command
}

// untilInterrupted ends with a first Ctrl-C or SIGTERM, so that what is broken is
// mended; a second one ends the program at once. What comes right behind the first
// is the same one: a process group and its leader may both be sent it.
func untilInterrupted(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var first time.Time
		for got := range signals {
			switch {
			case first.IsZero():
				first = time.Now()
				fmt.Fprintf(os.Stderr, "\nInterrupted (%s): mending the lab. Once more ends at once, and leaves it broken.\n", got)
				cancel()
			case time.Since(first) > time.Second:
				fmt.Fprintln(os.Stderr, "\nInterrupted again: the lab may still be broken; make down up mends one of this project's.")
				os.Exit(lab.ExitFailed)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}
