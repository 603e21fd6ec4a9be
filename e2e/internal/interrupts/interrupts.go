// Package interrupts ends a run early, in order: on a signal, or when another run has
// taken the lab.
package interrupts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// HandleSignals takes Ctrl-C, SIGTERM and SIGHUP over from Ginkgo, which would print the
// stack of every goroutine to a person who only wants to stop. The first one ends
// the running spec, its cleanup and the reports still to come; a second one ends
// the program. It is called once the suite runs; stop gives up listening.
func HandleSignals(w *cluster.Cluster) (stop func()) {
	w.Interruption = cluster.NewInterruption()
	signals := make(chan os.Signal, 2)
	heeded := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	if signal.Ignored(syscall.SIGHUP) { // nohup: the run goes on without its terminal
		heeded = heeded[:2]
	}
	signal.Reset(heeded...)
	signal.Notify(signals, heeded...)
	ended := make(chan struct{})
	go func() {
		for heard := 0; ; heard++ {
			select {
			case <-ended:
				return
			case got := <-signals:
				if heard > 0 {
					fmt.Fprintf(os.Stderr, "\nInterrupted again: ended at once, and nothing more was cleaned up. Of what the run made in the lab:\n%s\n", ownership.HowToRemove(w))
					os.Exit(1)
				}
				fmt.Fprintf(os.Stderr, "\nInterrupted (%s): ending. Once more ends at once, without cleaning up.\n", got)
				w.Interruption.End(context.Canceled)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(ended)
	}
}

// LoseLab ends the run because another one has the lab now.
func LoseLab(w *cluster.Cluster, cause error) {
	fmt.Fprintf(os.Stderr, "\n%v: ending.\n", cause)
	w.Interruption.End(cause)
}

// AbortIfInterrupted ends the suite if somebody wants it to. during says, to end a
// sentence with, what was being done.
func AbortIfInterrupted(w *cluster.Cluster, during string) {
	ginkgo.GinkgoHelper()
	if !w.Interrupted() {
		return
	}
	if cause := w.Interruption.Cause(); errors.Is(cause, ownership.ErrLost) {
		ginkgo.AbortSuite(fmt.Sprintf("%v. It ended %s", cause, during))
	}
	ginkgo.AbortSuite(text.Visible("The run was interrupted " + during))
}

// CleanupContext returns the context in which what a run made is cleaned up. After an
// interrupt a person waits for the end: where the API server does not answer, nothing
// is cleaned up that goes through it, and what is left is reported.
func CleanupContext(w *cluster.Cluster, spec context.Context) (context.Context, context.CancelFunc) {
	if !w.Interrupted() {
		return spec, func() {}
	}
	w.LastQuestion.Do(func() {
		ctx, cancel := context.WithTimeout(spec, lastWord)
		defer cancel()
		_, _, err := ownership.JobSets(ctx, w)
		w.Deaf = err != nil
	})
	if w.Deaf {
		return context.WithTimeout(spec, lastWord/4)
	}
	return spec, func() {}
}

// lastWord is how long an API server is given to answer once the run is interrupted.
const lastWord = 2 * time.Second
