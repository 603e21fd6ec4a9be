package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
)

// interrupted is the exit status after an interrupt, as in a shell.
const interrupted = 130

// Main is a program's main function: it runs, prints an error with the program's name,
// and exits with the status of a failed command that it ran, 130 after an interrupt,
// else 1. A first signal cancels the context, so that the run can clean up; a second
// one exits at once and prints what is left.
func Main(program string, run func(context.Context, *labs.Unfinished) error) {
	// A closed output pipe, as after head, ends neither the work nor its cleanup. Notify,
	// not Ignore, so that child processes still die of SIGPIPE.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	unfinished := &labs.Unfinished{}
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, handledSignals()...)
	go func() {
		awaitSecondSignal(signals, end)
		fmt.Fprintf(os.Stderr, "\n%s: interrupted again: ended at once, without further cleanup.\n%s", program, unfinished)
		os.Exit(interrupted)
	}()
	err := run(ctx, unfinished)
	os.Exit(report(os.Stderr, program, err, ctx.Err() != nil))
}

// handledSignals are the signals that end a program in order. A parent that ignores
// SIGHUP, as nohup does, wants the program to survive its terminal.
func handledSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// sameInterrupt is how long after a first signal further ones count as the same:
// timeout and make forward the signal that their whole process group received.
const sameInterrupt = time.Second

// awaitSecondSignal ends the work at the first signal and returns at the second.
func awaitSecondSignal(signals <-chan os.Signal, end func()) {
	got, first := <-signals, time.Now()
	fmt.Fprintf(os.Stderr, "\nInterrupted (%s): ending. Once more ends at once, without cleaning up.\n", got)
	end()
	for range signals {
		if time.Since(first) > sameInterrupt {
			return
		}
	}
}

// report prints how a run ended, unless it has printed that itself, and returns the
// exit status.
func report(out io.Writer, program string, err error, wasInterrupted bool) int {
	var ended *CommandError
	var kept *keptError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, kindcluster.ErrNotRemoved):
		fmt.Fprintf(out, "\n%s: %v\n", program, err)
		return 1
	case errors.As(err, &ended):
		if ended.Signal != 0 { // else the command has printed what was wrong
			fmt.Fprintf(out, "\n%s: %v\n", program, err)
		}
		return ended.Code
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(out, "\n%s: interrupted\n", program)
	case wasInterrupted:
		fmt.Fprintf(out, "\n%s: interrupted, and this was not done: %v\n", program, err)
		return interrupted
	default:
		fmt.Fprintf(out, "\n%s: %v\n", program, err)
		return 1
	}
	if errors.As(err, &kept) {
		fmt.Fprintf(out, "   %s\n", kept.what)
	}
	return interrupted
}

// keptError is a failure after which a lab is kept on purpose.
type keptError struct {
	failure error
	// what names the lab and says why it is kept and what to type.
	what string
}

func (s *keptError) Error() string {
	return strings.TrimRight(s.failure.Error(), "\n") + "\n   " + s.what
}
func (s *keptError) Unwrap() error { return s.failure }
