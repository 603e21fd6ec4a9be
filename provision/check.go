package provision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Check runs the suite's program to grade a learner's work on this lab, with
// these arguments for its check command. LAB_KUBECONFIG names another lab. It
// changes nothing, so nobody's hold on the lab stands in its way.
func (l *Lab) Check(ctx context.Context, args []string) error {
	suite := filepath.Join(l.Checkout, ".lab", "bin", "lab-e2e")
	if _, err := os.Stat(suite); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the suite's program %s is not built: make check builds it and does the same", suite)
	}
	command := exec.CommandContext(ctx, suite, append([]string{"check"}, args...)...)
	if os.Getenv("LAB_KUBECONFIG") == "" {
		command.Env = append(command.Environ(), "LAB_KUBECONFIG="+l.Kubeconfig())
	}
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &status):
		return &Ended{max(status.ExitCode(), 1)}
	case err != nil:
		return fmt.Errorf("running %s: %w", suite, err)
	}
	return nil
}
