package provision

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/provision/source"
)

// installEngine installs Podman and what it needs where no Docker engine answers
// and something of it is missing, and returns the names of what was installed.
func installEngine(ctx context.Context, say func(string)) (string, error) {
	docker := engine{name: "docker"}
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := docker.run(bounded, "version", "--format", "{{.Server.Version}}"); err == nil || ctx.Err() != nil {
		return "", ctx.Err()
	}
	missing := missingPackages(runs)
	return strings.Join(missing, " "), install(ctx, missing, say)
}

// install installs Debian's packages, as root on a machine with apt.
func install(ctx context.Context, missing []string, say func(string)) error {
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("these programs are missing, and there is no apt-get to install them: %s", names)
	}
	for _, args := range [][]string{
		{"update", "--quiet"},
		append([]string{"install", "--yes", "--quiet", "--no-install-recommends"}, missing...),
	} {
		say("apt-get " + args[0] + ": " + names)
		command := exec.CommandContext(ctx, "apt-get", args...)
		command.Env = append(command.Environ(), "DEBIAN_FRONTEND=noninteractive")
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if out, err := command.CombinedOutput(); err != nil && args[0] == "install" {
			return fmt.Errorf("apt-get could not install %s: %w\n%s\n   by hand: apt-get update && %s",
				names, err, source.LastLines(string(out), 5), installCommand(missing))
		}
	}
	return nil
}
