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

// needed are the programs that making a lab calls, and Debian's packages that bring them.
var needed = []struct{ program, pkg string }{
	{"mmdebstrap", "mmdebstrap"}, {"podman", "podman"}, {"runc", "runc"}, {"iptables", "iptables"},
	{"/usr/lib/podman/netavark", "netavark"}, {"/usr/lib/podman/aardvark-dns", "aardvark-dns"},
}

// missingPackages lists which of the wanted packages are not installed.
func missingPackages(wanted func(pkg string) bool) []string {
	var missing []string
	for _, n := range needed {
		if _, err := exec.LookPath(n.program); err != nil && wanted(n.pkg) {
			missing = append(missing, n.pkg)
		}
	}
	return missing
}

// What making a lab calls, what building its images does, and both.
func runs(pkg string) bool   { return pkg != "mmdebstrap" }
func builds(pkg string) bool { return pkg == "mmdebstrap" }
func either(string) bool     { return true }

func (l *Lab) findPrograms() finding {
	if _, err := exec.LookPath("go"); err != nil {
		return finding{name: "programs", said: "no go", fatal: true, mend: "install Go 1.26 or newer and put it on the PATH"}
	}
	missing := missingPackages(either)
	if len(missing) == 0 {
		return finding{name: "programs", said: "go, mmdebstrap, podman and what it needs"}
	}
	return finding{name: "programs", said: "not installed: " + strings.Join(missing, ", "),
		mend: "make e2e installs them as root; by hand: " + installCommand(missing)}
}

func installCommand(packages []string) string {
	return "apt-get install -y --no-install-recommends " + strings.Join(packages, " ")
}

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
		out, err := command.CombinedOutput()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && args[0] == "install" {
			return fmt.Errorf("apt-get could not install %s: %w\n%s\n   by hand: apt-get update && %s",
				names, err, source.LastLines(string(out), 5), installCommand(missing))
		}
	}
	return nil
}
