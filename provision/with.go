package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/fixtures"
)

// Ended is a command that ran and failed: it has told its user why.
type Ended struct{ Code int }

func (e *Ended) Error() string { return fmt.Sprintf("the command ended with status %d", e.Code) }

// cleaningUp is how long the command may take to end after an interrupt: it
// gathers evidence first.
const cleaningUp = 90 * time.Second

// With makes the lab, runs a command that finds it through LAB_KUBECONFIG, and
// removes the lab however the command ended, unless it is to be kept. The lab's
// name is held throughout, so that nobody removes it under the command.
func (l *Lab) With(ctx context.Context, args []string) error {
	release, err := l.hold()
	if err != nil {
		return err
	}
	defer release()
	m, err := l.up(ctx)
	if err != nil {
		return err
	}
	var env []string
	if !l.Keep {
		env = append(env, fixtures.LabEndsVariable+"=1")
	}
	failed := l.command(ctx, args, env...)
	if failed != nil && ctx.Err() == nil && !partly(failed) {
		fmt.Printf("   %s\n", l.nodeLogs(ctx, m.kind))
	}
	if l.Keep {
		fmt.Printf("   the lab %s stands, as KEEP=1 asks; look at it: export KUBECONFIG=%s; remove it: make down\n", l.Name, l.Kubeconfig())
		return failed
	}
	removed := l.down(context.WithoutCancel(ctx))
	if removed != nil && failed != nil {
		fmt.Fprintf(os.Stderr, "\nlab: %v\n", removed)
	}
	if failed != nil {
		return failed
	}
	return removed
}

// partly tells the status by which a command says that nothing failed, but that
// not all was tried or not on the lab's own versions.
func partly(failed error) bool {
	var ended *Ended
	return errors.As(failed, &ended) && ended.Code == 3
}

// command runs a command on the lab.
func (l *Lab) command(ctx context.Context, args []string, env ...string) error {
	return Run(ctx, args, append(env, "LAB_KUBECONFIG="+l.Kubeconfig())...)
}

// Run runs a command in a process group of its own, so that it gets one
// interrupt, from here, whether the user pressed Ctrl-C or this process was told
// to end. env is added to its environment. The error is an *Ended if it failed.
func Run(ctx context.Context, args []string, env ...string) error {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Env = append(command.Environ(), env...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = cleaningUp
	err := command.Run()
	var status *exec.ExitError
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, &status) {
		return &Ended{max(status.ExitCode(), 1)}
	}
	if err != nil {
		return fmt.Errorf("running %s: %w", args[0], err)
	}
	return nil
}
