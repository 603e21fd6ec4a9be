package engine

import (
	"context"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// canRaiseLimits tells whether this machine gives its processes CAP_SYS_RESOURCE.
func CanRaiseLimits() bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_RESOURCE, 0, 0, 0)
	return err != nil || has == 1
}

// cgroupVersion is 2 where the unified hierarchy is mounted in the usual place.
func CgroupVersion() int {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return 2
	}
	return 1
}

// probeProgram is a static program for a container of its own, and what it prints
// when it is asked for its version: this very program.
func probeProgram(ctx context.Context, _ string) (program, prints string, err error) {
	if program, err = os.Executable(); err != nil {
		return "", "", err
	}
	if err := IsStatic(program); err != nil {
		return "", "", err
	}
	said, err := exec.CommandContext(ctx, program, "--version").Output()
	return program, string(said), err
}
