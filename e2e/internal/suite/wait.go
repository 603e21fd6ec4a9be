package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// awaitKubeconfig waits for the kubeconfig of a lab that still boots, where a wait
// was asked for. An interrupt is this run's verdict like any other refusal.
func (s *Suite) awaitKubeconfig(getenv func(string) string) error {
	wait, err := settings.ReadWait(getenv("LAB_WAIT"))
	if err != nil {
		return err
	}
	s.waitUntil = time.Now().Add(wait)
	if wait == 0 {
		return nil
	}
	heeded := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		heeded = append(heeded, syscall.SIGHUP)
	}
	waiting, stop := signal.NotifyContext(context.Background(), heeded...)
	defer stop()
	preflight.AwaitKubeconfig(waiting, getenv("LAB_KUBECONFIG"), wait, printWaiting)
	if waiting.Err() != nil {
		return errors.New("the run was interrupted while it waited for the lab's kubeconfig")
	}
	return nil
}

// printWaiting begins a line of its own: Ginkgo is in the midst of one.
func printWaiting(line string) { fmt.Printf("\n%s", line) }
