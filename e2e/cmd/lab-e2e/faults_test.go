package main

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
)

// asked runs the faults command without a lab.
func asked(t *testing.T, exit int, environment []string, args ...string) (said string) {
	t.Helper()
	s := prepared(t, "/nowhere/kubeconfig", append([]string{"faults"}, args...)...)
	s.Env = append(s.Env, environment...)
	_ = s.Run() // the status is looked at below
	if found := s.ProcessState.ExitCode(); found != exit {
		t.Errorf("exit status %d, not %d; it said:\n%s", found, exit, s.told)
	}
	return s.told.String()
}

func TestFaultsAreNamedByArgumentsOrByLAB_FAULT(t *testing.T) {
	t.Parallel()
	listed := asked(t, report.ExitPassed, []string{"LAB_FAULT= quota-2  dns-denied "}, "--list")
	if lines := strings.Split(strings.TrimSpace(listed), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "quota-2") || !strings.Contains(lines[1], "dns-denied") {
		t.Errorf("it lists:\n%s", listed)
	}
	if listed := asked(t, report.ExitPassed, []string{"LAB_FAULT=quota-2"}, "--list", "kueue-down"); strings.Contains(listed, "quota-2") || !strings.Contains(listed, "kueue-down") {
		t.Errorf("an argument does not overrule the variable:\n%s", listed)
	}
	if said := asked(t, report.ExitNotRun, []string{"LAB_FAULT=;touch f"}); !strings.Contains(said, `there is no fault ";touch"`) {
		t.Errorf("it says:\n%s", said)
	}
	if said := asked(t, report.ExitNotRun, nil, "--restore", "quota-2"); !strings.Contains(said, "takes no name") {
		t.Errorf("it says:\n%s", said)
	}
	if said := asked(t, report.ExitNotRun, nil, "--restore"); !strings.Contains(said, "/nowhere/kubeconfig") {
		t.Errorf("it says:\n%s", said)
	}
}

// This test's process must outlive the signals that it sends itself.
func TestFaultsOfWhatEndsARunInAnOrderlyWay(t *testing.T) {
	send := func(signal syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(syscall.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
	}
	for _, signal := range []syscall.Signal{hangup(), syscall.SIGTERM, syscall.SIGINT} {
		ctx, _, stop := untilInterrupted(t.Context(), "ending", "nothing is left")
		send(signal)
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
			t.Errorf("%s does not end it", signal)
		}
		if signal == syscall.SIGTERM && hangup() == syscall.SIGHUP {
			send(syscall.SIGHUP) // and a later one of a lost connection ends nothing at once
			<-time.After(1200 * time.Millisecond)
			send(syscall.SIGHUP)
			<-time.After(100 * time.Millisecond)
		}
		stop()
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := io.WriteString(&reader{into: closedPipe{}, gone: cancel}, "progress"); err == nil || ctx.Err() == nil {
		t.Errorf("a reader who is gone is not noticed: %v, %v", err, ctx.Err())
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }
