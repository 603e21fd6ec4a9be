package engine

import (
	"context"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// CanRaiseLimits reports whether processes of this machine get CAP_SYS_RESOURCE.
func CanRaiseLimits() bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_RESOURCE, 0, 0, 0)
	return err != nil || has == 1
}

// CgroupVersion is 2 if the unified hierarchy is mounted in the usual place.
func CgroupVersion() int {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return 2
	}
	return 1
}

// probeProgram is a static program for the trial container and what it prints for
// --version: this program.
func probeProgram(ctx context.Context, _ string) (program, prints string, err error) {
	if program, err = os.Executable(); err != nil {
		return "", "", err
	}
	if err := IsStatic(program); err != nil {
		return "", "", err
	}
	output, err := exec.CommandContext(ctx, program, "--version").Output()
	return program, string(output), err
}
