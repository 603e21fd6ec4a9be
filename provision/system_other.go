//go:build !linux

package provision

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Elsewhere than on Linux, Docker runs the nodes in a virtual machine of its own,
// whose kernel is a recent one with everything that a node needs. Nothing of it can
// be looked at from here; the trial container shows whether it works.

func systemFindings() []finding {
	return []finding{{name: "system", said: runtime.GOOS + "/" + runtime.GOARCH + ": Docker runs the node in its own virtual machine"}}
}

func canRaiseLimits() bool { return true }

func cgroupVersion() int { return 2 }

// probeProgram is a static program for a container of its own, and what it prints:
// one that is built for it, since this program is not for Docker's machine.
func probeProgram(ctx context.Context, folder string) (program, prints string, err error) {
	checkout, err := findCheckout()
	if err != nil {
		return "", "", err
	}
	program = filepath.Join(folder, "trial")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", program, "./provision/cmd/trial")
	build.Dir = checkout
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if said, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("building the program of the trial container: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return program, "it works\n", isStatic(program)
}
