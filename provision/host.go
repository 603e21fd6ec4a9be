package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/source"
)

// finding is one result of the examination of this machine.
type finding struct {
	name string
	// found is what there is; fix is what to type or change, empty if it is good enough.
	found, fix string
	// fatal: no lab can be made until it is fixed.
	fatal bool
}

// Doctor prints what this machine can and cannot do, each with its fix, and fails if
// no lab can be made here. It changes nothing.
func Doctor(ctx context.Context, l *labs.Lab) error {
	findings := examine(ctx, l)
	fatal := 0
	for _, f := range findings {
		mark := "✓"
		switch {
		case f.fatal:
			mark = "✗"
			fatal++
		case f.fix != "":
			mark = "!"
		}
		fmt.Printf(" %s %-12s %s\n", mark, f.name, f.found)
		if f.fix != "" {
			fmt.Printf("   %12s %s\n", "", strings.ReplaceAll(f.fix, "\n", "\n"+strings.Repeat(" ", 16)))
		}
	}
	if fatal > 0 {
		return fmt.Errorf("%d of %d findings prevent a lab; the lines with ✗ say what to do", fatal, len(findings))
	}
	return nil
}

func examine(ctx context.Context, l *labs.Lab) []finding {
	findings := []finding{findRoot(), findPrograms(), findEngine(ctx, l), findImages(ctx, l)}
	findings = append(findings, systemFindings()...)
	return append(findings, findDisk(l), findMemory(), findLeftovers(l))
}

func findRoot() finding {
	if runtime.GOOS != "linux" {
		return finding{name: "user", found: "images can be pulled or loaded here; building them needs Linux",
			fatal: os.Getenv("LAB_IMAGES") == "source", fix: imageset.PullInstead}
	}
	if os.Geteuid() == 0 {
		return finding{name: "user", found: "root"}
	}
	return finding{name: "user", found: "not root: images can be pulled, but not built from source, and Podman is not used",
		fatal: os.Getenv("LAB_IMAGES") == "source", fix: "to build: sudo -E make e2e"}
}

// findImages says where the images would come from.
func findImages(ctx context.Context, l *labs.Lab) finding {
	state := imageset.Examine(ctx, l)
	return finding{name: "images", found: state.Found, fix: state.Fix, fatal: state.Fatal}
}

// findEngine tries the engines in a temporary folder next to the one of the labs: the
// doctor changes nothing.
func findEngine(ctx context.Context, l *labs.Lab) finding {
	above := filepath.Dir(l.Folder)
	for ; !labs.Exists(above); above = filepath.Dir(above) {
	}
	trial, err := os.MkdirTemp(above, ".lab-doctor-")
	if err != nil {
		return finding{name: "engine", found: err.Error(), fatal: true, fix: "name a folder that can be written: XDG_CACHE_HOME=/folder make e2e"}
	}
	defer os.RemoveAll(trial)
	defer engine.RemovePodman(filepath.Join(trial, "podman"))
	e, err := chooseEngine(ctx, l, trial)
	if err != nil {
		return finding{name: "engine", found: "none works", fix: err.Error(), fatal: !mayInstall(l, engine.MissingPackages(engine.Runs))}
	}
	return finding{name: "engine", found: fmt.Sprintf("%s %s%s", e, e.Tried, e.Second)}
}

func findCgroup() finding {
	summary := fmt.Sprintf("v%d", engine.CgroupVersion())
	if engine.CgroupVersion() == 1 {
		summary += ": kubelet is configured to accept it"
	}
	return finding{name: "cgroup", found: summary}
}

func findCapability() finding {
	if engine.CanRaiseLimits() {
		return finding{name: "capabilities", found: "CAP_SYS_RESOURCE is there"}
	}
	return finding{name: "capabilities", found: "no CAP_SYS_RESOURCE: containerd is configured not to lower oom scores"}
}

func findLimits() finding {
	files, err := engine.HardLimit(unix.RLIMIT_NOFILE)
	if err != nil {
		return finding{name: "limits", found: err.Error(), fatal: true}
	}
	if files < 4096 {
		return finding{name: "limits", found: fmt.Sprintf("only %d open files", files), fatal: true, fix: "ulimit -Hn 20000, then again"}
	}
	return finding{name: "limits", found: fmt.Sprintf("%d open files", files)}
}

// modules is bind-mounted into every kind node.
const modules = "/lib/modules"

func findModules() finding {
	if labs.Exists(modules) {
		return finding{name: "modules", found: modules + " exists"}
	}
	return finding{name: "modules", found: "no " + modules + ", which kind mounts into its node", fix: "make e2e makes it as root; by hand: mkdir " + modules}
}

func findInotify() finding {
	// kubelet, containerd and systemd in the node share the host's count.
	content, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	if err != nil {
		return finding{name: "inotify", found: err.Error()}
	}
	var instances int
	if _, err := fmt.Sscan(string(content), &instances); err != nil || instances >= 128 {
		return finding{name: "inotify", found: fmt.Sprintf("%d instances", instances)}
	}
	return finding{name: "inotify", found: fmt.Sprintf("only %d instances: kubelet may run out", instances), fix: "sysctl fs.inotify.max_user_instances=512"}
}

func findDisk(l *labs.Lab) finding {
	free, err := imageset.FreeBytes(l.Folder)
	if err != nil {
		return finding{name: "disk", found: err.Error(), fatal: true}
	}
	// The space for building is checked when something is built.
	f := finding{name: "disk", found: fmt.Sprintf("%d GiB free in %s, %d needed", free>>30, l.Folder, uint64(imageset.SpaceToRun)>>30)}
	if err := imageset.RequireSpace(l.Folder, imageset.SpaceToRun); err != nil {
		f.fatal, f.fix = true, imageset.SpaceFix
	} else if imageset.RequireSpace(l.Folder, imageset.SpaceToBuild) != nil {
		f.fix = fmt.Sprintf("%d are needed where images must be built from source", uint64(imageset.SpaceToBuild)>>30)
	}
	return f
}

func findMemory() finding {
	total, err := source.Memory()
	if err != nil {
		return finding{name: "memory", found: err.Error()}
	}
	f := finding{name: "memory", found: fmt.Sprintf("%d GiB, %d CPUs", total>>30, runtime.NumCPU())}
	if total < 4<<30 {
		f.fix = "the lab wants 4 GiB and two CPUs; it may be slow, or not come up"
	}
	return f
}

// findLeftovers names labs that exist, those whose checkout is gone included.
func findLeftovers(l *labs.Lab) finding {
	records, err := filepath.Glob(filepath.Join(l.Folder, "labs", "*.json"))
	if err != nil || len(records) == 0 {
		return finding{name: "labs", found: "none"}
	}
	var names, fixes []string
	for _, path := range records {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		was, _ := labs.ReadRecord(path)
		names = append(names, fmt.Sprintf("%s (of %s)", name, was.Checkout))
		where := was.Checkout
		if !labs.Exists(where) {
			where = l.Checkout
		}
		fixes = append(fixes, fmt.Sprintf("cd %s && make down LAB_NAME=%s", where, name))
	}
	return finding{name: "labs", found: strings.Join(names, ", "), fix: "to remove: " + strings.Join(fixes, "\n")}
}

// prepareHost installs missing packages where it may and returns the engine. It
// refuses a machine on which no lab can be made.
func prepareHost(ctx context.Context, sets *imageset.Resolver, say func(string)) (engine.Engine, string, error) {
	l := sets.Lab
	if err := sets.RefuseToBuild(ctx); err != nil {
		return engine.Engine{}, "", err
	}
	if home, err := os.UserHomeDir(); err == nil {
		if err := sharedWithDocker(runtime.GOOS, home, l.Folder); err != nil {
			return engine.Engine{}, "", err
		}
	}
	for _, f := range []finding{findLimits(), findDisk(l)} {
		if f.fatal {
			return engine.Engine{}, "", fmt.Errorf("%s: %s\n   %s", f.name, f.found, f.fix)
		}
	}
	say("trying the container engines")
	e, installed, err := findOrInstallEngine(ctx, l, say)
	if err != nil {
		return engine.Engine{}, "", err
	}
	// Docker creates it where its daemon runs, which may be a virtual machine.
	if e.Name == "podman" && !labs.Exists(modules) {
		if err := os.Mkdir(modules, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return engine.Engine{}, "", fmt.Errorf("making %s, which kind mounts into its node: %w", modules, err)
		}
	}
	free, err := imageset.FreeBytes(l.Folder)
	if err != nil {
		return engine.Engine{}, "", err
	}
	summary := fmt.Sprintf("%s, cgroup v%d, %d CPUs, %d GiB free", e, engine.CgroupVersion(), runtime.NumCPU(), free>>30)
	if installed != "" {
		summary += ", installed " + installed
	}
	return e, summary, nil
}

// sharedWithDocker is an error where Docker's virtual machine may not see a folder
// from which the node mounts files. Outside Linux it surely sees only the user's home.
func sharedWithDocker(system, home, folder string) error {
	if system == "linux" || folder == home || strings.HasPrefix(folder, home+string(filepath.Separator)) {
		return nil
	}
	return fmt.Errorf("the node mounts files of %s, and Docker's virtual machine sees only what is below your home folder\n   XDG_CACHE_HOME=%s make e2e", folder, filepath.Join(home, "lab-cache"))
}
