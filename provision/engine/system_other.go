//go:build !linux

package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"gsb.test/jobset-e2e/provision/source"
)

// Outside Linux, Docker runs the nodes in its own virtual machine, whose recent
// kernel has everything that a node needs. It cannot be examined from here; the
// trial container shows whether it works.

// CanRaiseLimits is true in Docker's virtual machine.
func CanRaiseLimits() bool { return true }

// CgroupVersion is 2 in Docker's virtual machine.
func CgroupVersion() int { return 2 }

// probeProgram builds a static program for Docker's machine, where this program
// does not run, and returns what the built one prints.
func probeProgram(ctx context.Context, folder string) (program, prints string, err error) {
	checkout, err := source.FindCheckout()
	if err != nil {
		return "", "", err
	}
	program = filepath.Join(folder, "trial")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", program, "./provision/cmd/trial")
	build.Dir = checkout
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if output, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("building the program of the trial container: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return program, "it works\n", IsStatic(program)
}
