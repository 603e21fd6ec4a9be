package provision

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/labs"
)

func findPrograms() finding {
	if _, err := exec.LookPath("go"); err != nil {
		return finding{name: "programs", found: "no go", fatal: true, fix: "install Go 1.26 or newer and put it on the PATH"}
	}
	if runtime.GOOS != "linux" {
		return finding{name: "programs", found: "go"}
	}
	missing := engine.MissingPackages(engine.Either)
	if len(missing) == 0 {
		return finding{name: "programs", found: "go, mmdebstrap, podman and what it needs"}
	}
	return finding{name: "programs", found: "not installed: " + strings.Join(missing, ", "),
		fix: "make e2e installs them as root; by hand: " + engine.InstallCommand(missing)}
}

// findOrInstallEngine returns the engine for the lab. If none works and Podman is
// incomplete, it installs the missing packages and returns their names.
func findOrInstallEngine(ctx context.Context, l *labs.Lab, say func(string)) (found engine.Engine, installed string, err error) {
	found, err = chooseEngine(ctx, l, l.Folder)
	missing := engine.MissingPackages(engine.Runs)
	if err == nil || ctx.Err() != nil || !mayInstall(l, missing) {
		return found, "", err
	}
	if failed := engine.Install(ctx, missing, say); failed != nil {
		return found, "", errors.Join(err, failed)
	}
	found, err = chooseEngine(ctx, l, l.Folder)
	return found, strings.Join(missing, " "), err
}

// mayInstall reports whether the packages that Podman misses may and can be installed.
func mayInstall(l *labs.Lab, missing []string) bool {
	record, _ := labs.ReadRecord(l.RecordFile())
	_, err := exec.LookPath("apt-get")
	return len(missing) > 0 && err == nil && os.Geteuid() == 0 && os.Getenv("LAB_ENGINE") != "docker" && record.Engine != "docker"
}
