// Package engine runs the container engine, Docker or Podman, and examines what it can
// do on this machine.
package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Engine is a container engine that can run a kind node.
type Engine struct {
	// Name is the program: docker or podman.
	Name    string
	Version string
	// Why says why no preferred engine was taken; Second, that another one was not tried.
	Why, Second string
	// Tried says how it is known that the engine can run a node.
	Tried string
}

// String is the name and version of the engine, and why it was chosen.
func (e Engine) String() string {
	output := e.Name + " " + e.Version
	if e.Why != "" {
		output += " (" + e.Why + ")"
	}
	return output
}

// Use sets the environment in which this process and its children, kind's included,
// talk to the engine. The lab's node gets a network of its own, named like the lab,
// which is removed with it.
func (e Engine) Use(lab string, folder string) error {
	settings := map[string]string{"KIND_EXPERIMENTAL_PROVIDER": e.Name}
	switch e.Name {
	case "docker":
		settings["KIND_EXPERIMENTAL_DOCKER_NETWORK"] = lab
	case "podman":
		settings["KIND_EXPERIMENTAL_PODMAN_NETWORK"] = lab
		own, err := podmanSettings(folder)
		if err != nil {
			return err
		}
		for name, value := range own {
			settings[name] = value
		}
	}
	for name, value := range settings {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Run runs the engine and returns its standard output. The error contains everything
// it printed.
func (e Engine) Run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, e.Name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is handled by this process
	command.WaitDelay = 5 * time.Second
	var out, warnings bytes.Buffer
	command.Stdout, command.Stderr = &out, &warnings
	err := command.Run()
	output := strings.TrimSpace(out.String())
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // the reason of the kill, not the kill
	}
	if err != nil {
		return output, fmt.Errorf("%s %s: %w: %s", e.Name, strings.Join(args, " "), err, strings.TrimSpace(warnings.String()+"\n"+output))
	}
	return output, nil
}

// LoadImage loads an image from an archive, unless the engine has one of that name.
func (e Engine) LoadImage(ctx context.Context, name, archive string) (loaded bool, err error) {
	if _, err := e.Run(ctx, "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return false, nil
	}
	_, err = e.Run(ctx, "load", "--quiet", "--input", archive)
	return true, err
}

// podmanSettings writes a configuration and storage of our own for Podman below
// folder, so that the user's and the system's Podman are not touched. It returns the
// environment that names them. Podman expects limits that this process may not be
// allowed to raise, so the limits are computed from the present ones.
func podmanSettings(folder string) (map[string]string, error) {
	files, err := HardLimit(unix.RLIMIT_NOFILE)
	if err != nil {
		return nil, err
	}
	processes, err := HardLimit(unix.RLIMIT_NPROC)
	if err != nil {
		return nil, err
	}
	// Podman lowers its own process limit to 32768 before it sets the container's.
	processes = min(processes, 30000)
	runtime := "crun"
	if _, err := exec.LookPath("runc"); err == nil {
		runtime = "runc"
	}
	volatile := volatileOf(folder)
	containers := fmt.Sprintf(`[containers]
default_ulimits = ["nofile=%d:%d", "nproc=%d:%d"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
runtime = %q
static_dir = %q
tmp_dir = %q
volume_path = %q
[network]
network_backend = "netavark"
network_config_dir = %q
`, files, files, processes, processes, runtime, filepath.Join(folder, "libpod"), filepath.Join(volatile, "libpod"),
		filepath.Join(folder, "volumes"), filepath.Join(folder, "networks"))
	storage := fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n",
		filepath.Join(folder, "storage"), filepath.Join(volatile, "storage"))
	settings := map[string]string{}
	for name, text := range map[string]string{"containers.conf": containers, "storage.conf": storage} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("making Podman's folder: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("writing Podman's configuration: %w", err)
		}
		settings[map[string]string{"containers.conf": "CONTAINERS_CONF", "storage.conf": "CONTAINERS_STORAGE_CONF"}[name]] = path
	}
	return settings, nil
}

// volatileOf is where Podman keeps what must be empty after a reboot: on tmpfs, unique
// per folder.
func volatileOf(folder string) string {
	return fmt.Sprintf("/run/gsb-jobset-%x", sha256.Sum256([]byte(folder)))[:len("/run/gsb-jobset-")+12]
}

// RemovePodman removes a Podman folder and everything that Podman keeps for it.
func RemovePodman(folder string) {
	_ = unix.Unmount(filepath.Join(folder, "storage", "overlay"), 0) // Podman may have mounted it on itself
	os.RemoveAll(volatileOf(folder))
	os.RemoveAll(folder)
}

// HardLimit is this process's hard limit of a resource, at most a million.
func HardLimit(which int) (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(which, &limit); err != nil {
		return 0, fmt.Errorf("reading a resource limit: %w", err)
	}
	return min(limit.Max, 1<<20), nil
}

func FirstLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[0]
}
