package engine

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"gsb.test/jobset-e2e/provision/source"
)

// needed are the programs that making a lab calls, and the Debian packages that
// contain them.
var needed = []struct{ program, pkg string }{
	{"mmdebstrap", "mmdebstrap"}, {"podman", "podman"}, {"runc", "runc"}, {"iptables", "iptables"},
	{"/usr/lib/podman/netavark", "netavark"}, {"/usr/lib/podman/aardvark-dns", "aardvark-dns"},
}

// MissingPackages lists which wanted packages are not installed.
func MissingPackages(wanted func(pkg string) bool) []string {
	var missing []string
	if runtime.GOOS != "linux" {
		return nil // only Docker can be used there
	}
	for _, n := range needed {
		if _, err := exec.LookPath(n.program); err != nil && wanted(n.pkg) {
			missing = append(missing, n.pkg)
		}
	}
	return missing
}

// Runs selects the packages for running a lab, Builds those for building its images,
// Either both.
func Runs(pkg string) bool   { return pkg != "mmdebstrap" }
func Builds(pkg string) bool { return pkg == "mmdebstrap" }
func Either(string) bool     { return true }

func InstallCommand(packages []string) string {
	return "apt-get install -y --no-install-recommends " + strings.Join(packages, " ")
}

// Install installs Debian packages, as root on a machine with apt.
func Install(ctx context.Context, missing []string, say func(string)) error {
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
		out, err := command.CombinedOutput()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && args[0] == "install" {
			return fmt.Errorf("apt-get could not install %s: %w\n%s\n   by hand: apt-get update && %s",
				names, err, source.LastLines(string(out), 5), InstallCommand(missing))
		}
	}
	return nil
}
