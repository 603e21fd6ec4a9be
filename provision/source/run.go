package source

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/provision/process"
)

// run runs a program to its end. The error carries the last lines the program printed.
func run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	_, err := output(ctx, dir, env, name, args...)
	return err
}

// output is run, and returns what the program printed on its standard output.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	var out, problems bytes.Buffer
	child := command(ctx, dir, env, name, args...)
	child.Stdout, child.Stderr = &out, &problems
	if err := process.Run(child); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w\n%s", name, err, LastLines(problems.String()+out.String(), 12))
	}
	return out.Bytes(), nil
}

// command is a program in its own process group, so that the terminal's Ctrl-C does
// not reach it first and ending it ends its children. It does not outlive this
// program. Run it by process.Run.
func command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	child := process.Command(ctx, name, args...)
	child.Dir = dir
	child.Env = append(child.Environ(), env...)
	child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGTERM) }
	child.WaitDelay = 10 * time.Second
	return child
}

// LastLines returns the last n lines of a text, each indented.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-n):]
	return "   " + strings.Join(lines, "\n   ")
}
