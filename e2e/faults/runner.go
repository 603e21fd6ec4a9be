package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

const (
	// longestRun bounds a run of the suite that does not end by itself.
	longestRun = 4 * time.Minute
	// endsWithin is how long it may take to end after an interrupt.
	endsWithin = 45 * time.Second
)

// A runner runs the program as a lab author does: what is judged is what they see.
type runner struct {
	program    string
	kubeconfig string
	runID      string // the id of the run that starts it
}

// An outcome is what a run of the suite left for programs to read, and when it
// began and ended.
type outcome struct {
	verdict      report.Verdict
	began, ended time.Time
}

// reported is when the run reported its first failure, or ended without one. What it
// does after that, such as cleaning up, keeps nobody waiting for the cause.
func (o outcome) reported() time.Time {
	if first := o.verdict.FirstFailure; first != nil && !first.At.IsZero() {
		return first.At
	}
	return o.ended
}

// run runs one step, or all where none is named, in a folder of its own. That
// the run fails is no error.
func (s runner) run(ctx context.Context, folder, step string) (out outcome, err error) {
	log, err := os.Create(filepath.Join(folder, "run.log"))
	if err != nil {
		return out, fmt.Errorf("making a log of the run: %w", err)
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	command := exec.CommandContext(ctx, s.program, "run", "--kubeconfig", s.kubeconfig, "--step", step,
		"--reports", folder, "--workdir", workDir(folder),
		"--keep") // what the run left is removed once the lab is restored; a broken one may not let go of it
	// LAB_STEP may be set for the one who runs the catalogue.
	command.Env = append(command.Environ(), "LAB_STEP=", settings.RunVariable+"="+s.runID)
	command.Stdout, command.Stderr = log, log
	// A process group of its own: an interrupt from the keyboard reaches it once, from here.
	command.SysProcAttr = childAttributes()
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = endsWithin
	out.began = time.Now()
	// The kernel ends the suite with the thread that started it; see childAttributes.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = command.Run()
	out.ended = time.Now()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) || ctx.Err() != nil {
		return out, fmt.Errorf("running the suite (%s): %w", log.Name(), errors.Join(err, ctx.Err()))
	}
	content, err := os.ReadFile(filepath.Join(folder, "verdict.json"))
	if err != nil {
		return out, fmt.Errorf("the suite left no verdict (%s): %w", log.Name(), err)
	}
	if err := json.Unmarshal(content, &out.verdict); err != nil {
		return out, fmt.Errorf("reading the suite's verdict: %w", err)
	}
	return out, nil
}

// freshFolder makes the folder of a run, and removes what an earlier one left in it.
func freshFolder(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("removing an earlier run: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making a folder for the run: %w", err)
	}
	return nil
}

func workDir(folder string) string { return filepath.Join(folder, "gsb-jobset") }
