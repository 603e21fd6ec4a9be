package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

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
	if runtime.GOOS != "linux" {
		return nil // Docker is all that can be used there
	}
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
		return finding{name: "programs", found: "no go", fatal: true, fix: "install Go 1.26 or newer and put it on the PATH"}
	}
	if runtime.GOOS != "linux" {
		return finding{name: "programs", found: "go"}
	}
	missing := missingPackages(either)
	if len(missing) == 0 {
		return finding{name: "programs", found: "go, mmdebstrap, podman and what it needs"}
	}
	return finding{name: "programs", found: "not installed: " + strings.Join(missing, ", "),
		fix: "make e2e installs them as root; by hand: " + installCommand(missing)}
}

func installCommand(packages []string) string {
	return "apt-get install -y --no-install-recommends " + strings.Join(packages, " ")
}

// findOrInstallEngine returns the engine for the lab. Where none works and Podman is
// not there whole, it installs that, and returns the names of what was installed.
func (l *Lab) findOrInstallEngine(ctx context.Context, say func(string)) (found engine, installed string, err error) {
	found, err = l.chooseEngine(ctx, l.Folder)
	missing := missingPackages(runs)
	if err == nil || ctx.Err() != nil || !l.mayInstall(missing) {
		return found, "", err
	}
	if failed := install(ctx, missing, say); failed != nil {
		return found, "", errors.Join(err, failed)
	}
	found, err = l.chooseEngine(ctx, l.Folder)
	return found, strings.Join(missing, " "), err
}

// mayInstall tells whether installing what Podman lacks is wanted and can be done.
func (l *Lab) mayInstall(missing []string) bool {
	stood, _ := readRecord(l.recordFile())
	_, err := exec.LookPath("apt-get")
	return len(missing) > 0 && err == nil && os.Geteuid() == 0 && os.Getenv("LAB_ENGINE") != "docker" && stood.Engine != "docker"
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
