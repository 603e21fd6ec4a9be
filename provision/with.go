package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/process"
)

// CommandError is a command that ran and failed. It has printed why, unless a signal
// ended it.
type CommandError struct {
	Code int
	// Program and Signal are set if a signal ended the command.
	Program string
	Signal  syscall.Signal
}

func (e *CommandError) Error() string {
	if e.Signal == 0 {
		return fmt.Sprintf("the command ended with status %d", e.Code)
	}
	text := fmt.Sprintf("the command %s was killed: signal %s", e.Program, e.Signal)
	if e.Signal == syscall.SIGKILL {
		text += " (out of memory?)"
	}
	return text
}

// commandCleanup is how long the command may take to end after an interrupt: it
// gathers evidence first.
const commandCleanup = 90 * time.Second

// With makes the lab, runs a command that finds it through LAB_KUBECONFIG, and removes
// the lab however the command ended, unless it is to be kept. The lab's name is locked
// all the time, so that nobody removes the lab while the command runs.
func With(ctx context.Context, l *labs.Lab, args []string) error {
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	m, err := up(ctx, l)
	if err != nil {
		return err
	}
	var env []string
	if !l.Keep {
		l.Unfinished.Begin(l.Name, "used")
		env = append(env, fixtures.LabEndsVariable+"=1")
	}
	failed := command(ctx, l, args, env...)
	if failed != nil && ctx.Err() == nil && !exitPartial(failed) {
		fmt.Printf("   %s\n", nodeLogs(ctx, l, m.kind))
	}
	if l.Keep {
		fmt.Printf("   the lab %s is kept, as KEEP=1 says; look at it: export KUBECONFIG=%s; remove it: make down\n", l.Name, l.Kubeconfig())
		return failed
	}
	removed := down(context.WithoutCancel(ctx), l)
	if removed != nil && failed != nil {
		fmt.Fprintf(os.Stderr, "\nlab: %v\n", removed)
	}
	if failed != nil {
		return failed
	}
	return removed
}

// exitPartial reports whether a command exited with 3: nothing failed, but not every
// step ran, or not on the lab's own versions.
func exitPartial(failed error) bool {
	var ended *CommandError
	return errors.As(failed, &ended) && ended.Code == 3
}

// command runs a command on the lab.
func command(ctx context.Context, l *labs.Lab, args []string, env ...string) error {
	return Run(ctx, args, append(env, "LAB_KUBECONFIG="+l.Kubeconfig())...)
}

// Run runs a command in its own process group, so that it gets one interrupt, from
// here, whether the user pressed Ctrl-C or this process got a signal. It does not
// outlive this process. env is added to its environment. The error is a *CommandError
// if the command failed.
func Run(ctx context.Context, args []string, env ...string) error {
	command := process.Command(ctx, args[0], args[1:]...)
	command.Env = append(command.Environ(), env...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = commandCleanup
	err := process.Run(command)
	var status *exec.ExitError
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, &status) {
		if how, is := status.Sys().(syscall.WaitStatus); is && how.Signaled() {
			return &CommandError{Code: 128 + int(how.Signal()), Program: filepath.Base(args[0]), Signal: how.Signal()}
		}
		return &CommandError{Code: max(status.ExitCode(), 1)}
	}
	if err != nil {
		return fmt.Errorf("running %s: %w", args[0], err)
	}
	return nil
}
