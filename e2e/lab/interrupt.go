package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/onsi/ginkgo/v2"
)

// HeedInterrupts takes Ctrl-C, SIGTERM and SIGHUP over from Ginkgo, which would print the
// stack of every goroutine to a person who only wants to stop. The first one ends
// the running spec, its cleanup and the reports still to come; a second one ends
// the program. It is called once the suite runs; stop gives up listening.
func (w *World) HeedInterrupts() (stop func()) {
	w.running, w.interrupt = context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		for heard := 0; ; heard++ {
			select {
			case <-ended:
				return
			case got := <-signals:
				if heard > 0 {
					fmt.Fprintf(os.Stderr, "\nInterrupted again: ended at once, and nothing more was cleaned up. Of what the walk made in the lab:\n%s\n", w.howToRemove())
					os.Exit(1)
				}
				fmt.Fprintf(os.Stderr, "\nInterrupted (%s): ending. Once more ends at once, without cleaning up.\n", got)
				w.interrupt(context.Canceled)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(ended)
	}
}

// Interrupted tells whether somebody wants the run to end.
func (w *World) Interrupted() bool { return w.running != nil && w.running.Err() != nil }

// Lose ends the run because another one has the lab now.
func (w *World) Lose(cause error) {
	fmt.Fprintf(os.Stderr, "\n%v: ending.\n", cause)
	w.interrupt(cause)
}

// EndIfInterrupted ends the suite if somebody wants it to. during says, to end a
// sentence with, what was being done.
func (w *World) EndIfInterrupted(during string) {
	ginkgo.GinkgoHelper()
	if !w.Interrupted() {
		return
	}
	if cause := context.Cause(w.running); errors.Is(cause, errLost) {
		ginkgo.AbortSuite(fmt.Sprintf("%v. It ended %s", cause, during))
	}
	ginkgo.AbortSuite("The run was interrupted " + during)
}

// Heeding returns the context of a spec, which ends with an interrupt too.
func (w *World) Heeding(spec context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(spec)
	stop := context.AfterFunc(w.running, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
