package provision

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
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
type engine struct {
	// name is the program: docker or podman.
	name    string
	version string
}

// use sets what this process and its children, kind's among them, need in the
// environment to talk to the engine. The lab's node gets a network of its own,
// named like the lab, that goes when the lab goes.
func (e engine) use(lab string, folder string) error {
	settings := map[string]string{"KIND_EXPERIMENTAL_PROVIDER": e.name}
	switch e.name {
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

// run runs the engine and returns what it printed; what it printed is in the error too.
func (e engine) run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, e.name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours to answer
	command.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	said := strings.TrimSpace(out.String())
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // why it was killed says more than that it was
	}
	if err != nil {
		return said, fmt.Errorf("%s %s: %w: %s", e.name, strings.Join(args, " "), err, said)
	}
	return said, nil
}

// podmanSettings writes Podman a configuration and a storage of our own below
// folder, so that nothing the user or the system keeps in Podman is touched, and
// returns the environment that names them. Podman counts on limits that this
// process may not raise; the ones it may are computed from those it has.
func podmanSettings(folder string) (map[string]string, error) {
	files, err := ulimit(unix.RLIMIT_NOFILE)
	if err != nil {
		return nil, err
	}
	processes, err := ulimit(unix.RLIMIT_NPROC)
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
func removePodman(folder string) {
	_ = unix.Unmount(filepath.Join(folder, "storage", "overlay"), 0) // Podman may have mounted it on itself
	os.RemoveAll(volatileOf(folder))
	os.RemoveAll(folder)
}

// ulimit is this process's hard limit; no limit is told as a large number.
func ulimit(which int) (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(which, &limit); err != nil {
		return 0, fmt.Errorf("reading a resource limit: %w", err)
	}
	return min(limit.Max, 1<<20), nil
}

// findEngine returns the first engine that really runs a privileged container:
// Docker, then Podman; or the one that LAB_ENGINE names, and no other.
func findEngine(ctx context.Context, folder string) (engine, error) {
	names := []string{"docker", "podman"}
	if wanted := os.Getenv("LAB_ENGINE"); wanted != "" {
		if wanted != "docker" && wanted != "podman" {
			return engine{}, fmt.Errorf("LAB_ENGINE is %q; it can be docker or podman", wanted)
		}
		names = []string{wanted}
	}
	var why []error
	for _, name := range names {
		found, err := tryEngine(ctx, engine{name: name}, folder)
		if err == nil {
			return found, nil
		}
		if ctx.Err() != nil {
			return engine{}, ctx.Err()
		}
		why = append(why, err)
	}
	return engine{}, fmt.Errorf("no container engine here can run a kind node:\n%w\n"+
		"   start Docker, or, on Debian: apt-get install podman runc netavark aardvark-dns iptables", errors.Join(why...))
}

// tryEngine runs a privileged container of this very program, which is static,
// and returns the engine with its version. A success is remembered until the
// machine restarts or the engine changes.
func tryEngine(ctx context.Context, e engine, folder string) (engine, error) {
	if _, err := exec.LookPath(e.name); err != nil {
		return e, fmt.Errorf("   %s: not installed", e.name)
	}
	if e.name == "podman" && os.Geteuid() != 0 {
		return e, fmt.Errorf("   podman: a lab uses it as root only: sudo -E make e2e")
	}
	if err := e.use("gsb-jobset-probe", folder); err != nil {
		return e, err
	}
	format := map[string]string{"docker": "{{.Server.Version}}", "podman": "{{.Client.Version}}"}[e.name]
	bounded, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var err error
	if e.version, err = e.run(bounded, "version", "--format", format); err != nil {
		return e, fmt.Errorf("   %s: no engine answers: %s", e.name, firstLine(err))
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // elsewhere than Linux: tried each time
	verdict := filepath.Join(folder, "engine-works")
	mark := fmt.Sprintf("%s %s %s", e.name, e.version, strings.TrimSpace(string(boot)))
	if was, err := os.ReadFile(verdict); err == nil && string(was) == mark && len(boot) > 0 {
		return e, nil
	}
	if err := runPrivileged(bounded, e); err != nil {
		return e, fmt.Errorf("   %s %s: cannot run a privileged container, which a kind node is: %s", e.name, e.version, firstLine(err))
	}
	return e, os.WriteFile(verdict, []byte(mark), 0o644)
}

func firstLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[0]
}
