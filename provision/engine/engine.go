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

// engine is a container engine that can run a kind node.
type Engine struct {
	// name is the program: docker or podman.
	Name    string
	Version string
	// why says why it is not one that goes before it; second, that one after it was not asked.
	Why, Second string
	// tried says how it is known that the engine can run a node.
	Tried string
}

// String is the engine's name and version, and why it is this one.
func (e Engine) String() string {
	said := e.Name + " " + e.Version
	if e.Why != "" {
		said += " (" + e.Why + ")"
	}
	return said
}

// use sets what this process and its children, kind's among them, need in the
// environment to talk to the engine. The lab's node gets a network of its own,
// named like the lab, that goes when the lab goes.
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

// run runs the engine and returns what it printed on its output, without what it
// warned of; all it printed is in the error.
func (e Engine) Run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, e.Name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours to answer
	command.WaitDelay = 5 * time.Second
	var out, warned bytes.Buffer
	command.Stdout, command.Stderr = &out, &warned
	err := command.Run()
	said := strings.TrimSpace(out.String())
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // why it was killed says more than that it was
	}
	if err != nil {
		return said, fmt.Errorf("%s %s: %w: %s", e.Name, strings.Join(args, " "), err, strings.TrimSpace(warned.String()+"\n"+said))
	}
	return said, nil
}

// haveImage loads an image from an archive, unless the engine has one of that name.
func (e Engine) LoadImage(ctx context.Context, name, archive string) (loaded bool, err error) {
	if _, err := e.Run(ctx, "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return false, nil
	}
	_, err = e.Run(ctx, "load", "--quiet", "--input", archive)
	return true, err
}

// podmanSettings writes Podman a configuration and a storage of our own below
// folder, so that nothing the user or the system keeps in Podman is touched, and
// returns the environment that names them. Podman counts on limits that this
// process may not raise; the ones it may are computed from those it has.
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

// volatileOf is where Podman keeps what a reboot empties, as it expects; another
// folder's is another's.
func volatileOf(folder string) string {
	return fmt.Sprintf("/run/gsb-jobset-%x", sha256.Sum256([]byte(folder)))[:len("/run/gsb-jobset-")+12]
}

// removePodman removes a Podman folder with all that Podman keeps for it.
func RemovePodman(folder string) {
	_ = unix.Unmount(filepath.Join(folder, "storage", "overlay"), 0) // Podman may have mounted it on itself
	os.RemoveAll(volatileOf(folder))
	os.RemoveAll(folder)
}

// ulimit is this process's hard limit; no limit is told as a large number.
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
