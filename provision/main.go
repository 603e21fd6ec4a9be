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

// interrupted is the exit status after an interrupt, as a shell's is.
const interrupted = 130

// Main is the whole of a program's main: it runs, tells an error in the program's
// name, and ends with the exit status: that of a command which it ran and which
// failed, 130 after an interrupt, else 1. A first signal lets what is running clean
// up; a second one ends at once, and says what is left.
func Main(program string, run func(context.Context, *labs.Unfinished) error) {
	// A reader who goes away, as head does, ends neither the work nor the cleanup
	// after it. Notify and not Ignore, so that what is run here dies of it as ever.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	unfinished := &labs.Unfinished{}
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, handledSignals()...)
	go func() {
		awaitSecondSignal(signals, end)
		fmt.Fprintf(os.Stderr, "\n%s: interrupted again: ended at once, and nothing more was cleaned up.\n%s", program, unfinished)
		os.Exit(interrupted)
	}()
	err := run(ctx, unfinished)
	os.Exit(report(os.Stderr, program, err, ctx.Err() != nil))
}

// heeded are the signals that end a program orderly. Who started it with SIGHUP
// ignored, as nohup does, wants it to go on without its terminal.
func handledSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// sameInterrupt is how long after a first signal further ones belong to it: timeout
// and make both pass on the one that they get to all of their process group.
const sameInterrupt = time.Second

// awaitSecond ends the work at the first signal, and returns at the second.
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

// report says how a run ended where it has not said so itself, and returns the exit status.
func report(out io.Writer, program string, err error, wasInterrupted bool) int {
	var ended *CommandError
	var stands *keptError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, kindcluster.ErrNotRemoved):
		fmt.Fprintf(out, "\n%s: %v\n", program, err)
		return 1
	case errors.As(err, &ended):
		if ended.Signal != 0 { // else it has said itself what was wrong
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
	if errors.As(err, &stands) {
		fmt.Fprintf(out, "   %s\n", stands.what)
	}
	return interrupted
}

// standing is a failure after which a lab is left standing, on purpose.
type keptError struct {
	failure error
	// what says which, why, and what to type.
	what string
}

func (s *keptError) Error() string {
	return strings.TrimRight(s.failure.Error(), "\n") + "\n   " + s.what
}
func (s *keptError) Unwrap() error { return s.failure }
