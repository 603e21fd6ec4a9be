package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"gsb.test/jobset-e2e/e2e/faults"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/steps"
)

func faultsCommand() *cobra.Command {
	given := flags{}
	command := &cobra.Command{Use: "faults [NAME ...]", Short: "Break the lab in every known way, and require the right failure",
		Long: "Breaks the lab in every known way, one after the other, runs the suite, and requires\n" +
			"that its first failure is in the right spec, has the right code and comes soon. Then\n" +
			"the lab is restored and proven to be. Only for a lab that nobody uses meanwhile. LAB_FAULT, names with blanks\n" +
			"between them, stands for the names.\n\n" +
			"What a fault changes stands in a journal in the lab before it is changed. After the\n" +
			"program was killed, --restore restores the lab by it, from any machine.\n\n" +
			"Exit status: 0 every fault was caught and restored, or the lab is restored, 1 not so, 2 could not run."}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "reports", "LAB_REPORTS", "where faults.json and a folder for each fault go")
	list := command.Flags().Bool("list", false, "only list the faults, or those that are named")
	restore := command.Flags().Bool("restore", false, "break nothing: restore the lab that an earlier run broke and left")
	command.RunE = func(command *cobra.Command, names []string) error {
		if *restore {
			if len(names) > 0 {
				return fmt.Errorf("--restore restores whatever fault is left in the lab, and takes no name, such as %s", names[0])
			}
		} else if len(names) == 0 {
			names = strings.Fields(os.Getenv("LAB_FAULT"))
		}
		chosen, err := faults.Catalogue(names)
		if err != nil {
			return err
		}
		if *list {
			fmt.Println(faults.Listing(chosen))
			return nil
		}
		root, err := settings.Root()
		if err != nil {
			return err
		}
		// Each run on a broken lab has a work directory of its own; this one stays empty.
		workDir, err := os.MkdirTemp("", "gsb-jobset-")
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(workDir) }()
		settings, err := settings.ReadSettings(func(variable string) string {
			if variable == "LAB_WORKDIR" {
				return workDir
			}
			return given.getenv(variable)
		}, root)
		if err != nil {
			return err
		}
		settings.Files, settings.JobSets = steps.Course.Files(), steps.Course.JobSets()
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding this program, to run it on a broken lab: %w", err)
		}
		// What the client libraries log of streams that a fault breaks is no news.
		klog.SetOutput(io.Discard)
		klog.LogToStderr(false)
		then := "restoring the lab. Once more ends at once, and leaves it broken"
		if *restore {
			then = "ending. What is not restored yet stays in the journal"
		}
		ctx, out, stop := untilInterrupted(command.Context(), then, "the lab may still be broken. To restore it, type: lab-e2e faults --restore")
		defer stop()
		run := &faults.Run{Settings: settings, Program: program, Faults: chosen, AllSteps: len(names) == 0, Out: out, Holder: ownership.Holder("lab-e2e faults")}
		if *restore {
			return failed(run.Restore(ctx))
		}
		missed, err := run.Do(ctx)
		if err == nil && missed > 0 {
			return status(report.ExitFailed)
		}
		return err
	}
	return command
}

// failed distinguishes a restore that began and did not succeed from one that could not begin.
func failed(err error) error {
	var not faults.NotRestored
	if errors.As(err, &not) {
		fmt.Fprintln(os.Stderr, err)
		return status(report.ExitFailed)
	}
	return err
}

// untilInterrupted ends with a first signal, or when whoever reads what is printed
// is gone, so that what is broken is restored. A second Ctrl-C or SIGTERM ends the
// program at once. What comes right behind the first is the same one: a process
// group and its leader may both be sent it. What is ignored, as SIGHUP is under
// nohup, stays ignored. then says what happens after a first signal, left what is left
// behind after a second.
func untilInterrupted(parent context.Context, then, left string) (context.Context, io.Writer, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	// A write to a reader who is gone is an error from now on, and does not end the program.
	signal.Ignore(syscall.SIGPIPE)
	heeded := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	signals := make(chan os.Signal, 4)
	if len(heeded) > 0 {
		signal.Notify(signals, heeded...)
	}
	go func() {
		var first time.Time
		for got := range signals {
			switch {
			case first.IsZero():
				first = time.Now()
				fmt.Fprintf(os.Stderr, "\nInterrupted (%s): %s.\n", got, then)
				cancel()
			case got != syscall.SIGHUP && time.Since(first) > time.Second:
				fmt.Fprintf(os.Stderr, "\nInterrupted again: %s\n", left)
				os.Exit(report.ExitFailed)
			}
		}
	}()
	return ctx, &reader{os.Stdout, cancel}, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

// A reader is whoever reads what is printed. gone is called when it is not there any more.
type reader struct {
	into io.Writer
	gone func()
}

func (r *reader) Write(text []byte) (int, error) {
	n, err := r.into.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		r.gone()
	}
	return n, err
}
