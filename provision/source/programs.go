package source

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"

	"gsb.test/jobset-e2e/provision/process"
)

// goEnv makes builds the same on every machine. The Makefile builds the suite with the
// same flags, and explains them, so that both share Go's build cache.
var goEnv = []string{
	"CGO_ENABLED=0", "GOWORK=off", "GOOS=linux",
	"GOFLAGS=-trimpath -buildvcs=false '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false",
}

// unhurried lets the compiler's garbage collector run only when memory is needed,
// which saves a sixth of the CPU of a large build: each compiler process may take
// its share of half the machine.
func unhurried() []string {
	total, err := Memory()
	if err != nil {
		return nil
	}
	share := total / 2 / uint64(runtime.NumCPU())
	return []string{"GOGC=off", fmt.Sprintf("GOMEMLIMIT=%d", share)}
}

// buildTags leave out what the node has no use for: containerd's other snapshotters,
// its tracing and its plugins in WebAssembly.
const buildTags = "no_btrfs,no_devmapper,no_zfs,no_tracing,nri_no_wasm"

// A program is one binary of the node or of an image in it.
type program struct{ name, pkg string }

// programs are built in the module provision/source/programs, whose go.mod pins
// them and whose go.sum checks them.
var programs = []program{
	{"kubernetes", "./kubernetes"},
	{"kueue", "sigs.k8s.io/kueue/cmd/kueue"},
	{"jobset", "sigs.k8s.io/jobset"},
	{"containerd", "github.com/containerd/containerd/v2/cmd/containerd"},
	{"containerd-shim-runc-v2", "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"},
	{"ctr", "github.com/containerd/containerd/v2/cmd/ctr"},
	{"crictl", "sigs.k8s.io/cri-tools/cmd/crictl"},
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"coredns", "./coredns"},
	{"pause", "./pause"},
	{"host-local", "github.com/containernetworking/plugins/plugins/ipam/host-local"},
	{"loopback", "github.com/containernetworking/plugins/plugins/main/loopback"},
	{"portmap", "github.com/containernetworking/plugins/plugins/meta/portmap"},
	{"ptp", "github.com/containernetworking/plugins/plugins/main/ptp"},
}

// module is the pinned module of programs.
type module struct {
	dir  string
	file *modfile.File
}

func openModule(dir string) (module, error) {
	path := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return module{}, fmt.Errorf("building from source needs a checkout of this repository: %w", err)
	}
	file, err := modfile.Parse(path, content, nil)
	if err != nil {
		return module{}, fmt.Errorf("reading what is pinned: %w", err)
	}
	return module{dir, file}, nil
}

// version returns the pinned version of a module, or what is wrong with the pins.
func (m module) version(path string) (string, error) {
	for _, require := range m.file.Require {
		if require.Mod.Path == path {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s pins no %s", m.file.Syntax.Name, path)
}

// download returns the folder with the checked source of a pinned module.
func (m module) download(ctx context.Context, path string) (string, error) {
	answer, err := output(ctx, m.dir, goEnv, "go", "mod", "download", "-json", path)
	if err != nil {
		return "", fmt.Errorf("fetching the source of %s (the Go module proxy must be reachable: go env GOPROXY): %w", path, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(answer, &found); err != nil || found.Dir == "" {
		return "", fmt.Errorf("go mod download %s answered %q", path, answer)
	}
	return found.Dir, nil
}

// buildArgs are go build's flags and packages.
func (m module) buildArgs() ([]string, error) {
	stamp, err := m.stamp()
	if err != nil {
		return nil, err
	}
	args := []string{"-tags", buildTags, "-ldflags", "-s -w " + stamp}
	for _, p := range programs {
		args = append(args, p.pkg)
	}
	return args, nil
}

// build links every program into dir with one go command, so that shared packages are
// compiled once and both cores stay busy. say gets the progress.
func (m module) build(ctx context.Context, dir string, say func(string)) error {
	args, err := m.buildArgs()
	if err != nil {
		return err
	}
	total := 0
	if list, err := output(ctx, m.dir, goEnv, "go", append([]string{"list", "-deps", "-tags", buildTags}, args[4:]...)...); err == nil {
		total = strings.Count(string(list), "\n")
	}
	out := filepath.Join(dir, "out")
	log := &buildLog{say: func(compiled int, last string) {
		say(fmt.Sprintf("compiling: %d of at most %d packages, %d of %d programs linked (%s)",
			compiled, total, count(out), len(programs), last))
	}}
	build := command(ctx, m.dir, append(unhurried(), goEnv...), "go", append([]string{"build", "-v", "-o", out + string(filepath.Separator)}, args...)...)
	build.Stderr = log
	if err := process.Run(build); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("go build: %w\n%s", err, LastLines(log.problems.String(), 12))
	}
	for _, p := range programs {
		if err := os.Rename(filepath.Join(out, binaryName(p.pkg)), filepath.Join(dir, p.name)); err != nil {
			return err
		}
	}
	return os.Remove(out)
}

// stamp is what the linker writes into the programs as their version; kubeadm refuses
// to run without one.
func (m module) stamp() (string, error) {
	var flags []string
	for _, where := range []struct{ module, variable string }{
		{"k8s.io/kubernetes", "k8s.io/component-base/version.gitVersion"},
		{"sigs.k8s.io/jobset", "sigs.k8s.io/jobset/pkg/version.GitVersion"},
		{"sigs.k8s.io/kueue", "sigs.k8s.io/kueue/pkg/version.GitVersion"},
		{"sigs.k8s.io/cri-tools", "sigs.k8s.io/cri-tools/pkg/version.Version"},
		{"github.com/containerd/containerd/v2", "github.com/containerd/containerd/v2/version.Version"},
	} {
		version, err := m.version(where.module)
		if err != nil {
			return "", err
		}
		flags = append(flags, "-X "+where.variable+"="+version)
		if where.module == "k8s.io/kubernetes" {
			numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
			flags = append(flags, "-X k8s.io/component-base/version.gitMajor="+numbers[0],
				"-X k8s.io/component-base/version.gitMinor="+numbers[1], "-X k8s.io/component-base/version.gitTreeState=clean")
		}
	}
	return strings.Join(flags, " "), nil
}

// buildLog reads the output of go build -v: the import path of each compiled package,
// and errors of the compiler.
type buildLog struct {
	say      func(compiled int, last string)
	compiled int
	unended  string
	problems strings.Builder
}

func (l *buildLog) Write(printed []byte) (int, error) {
	lines := strings.Split(l.unended+string(printed), "\n")
	l.unended = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			l.say(l.compiled, line[len("go: "):])
		case strings.ContainsAny(line, " \t"): // an import path has no blanks
			l.problems.WriteString(line + "\n")
		default:
			l.compiled++
			l.say(l.compiled, line)
		}
	}
	return len(printed), nil
}

// binaryName is what go build calls a package's program: its last path element
// that is not a major version.
func binaryName(pkg string) string {
	name := filepath.Base(pkg)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = filepath.Base(filepath.Dir(pkg))
	}
	return name
}

// count returns how many files a folder holds.
func count(dir string) int {
	entries, _ := os.ReadDir(dir) // a folder that is not there yet holds none
	return len(entries)
}

// toolchain names what compiles: another Go is another build.
func toolchain(ctx context.Context) (string, error) {
	version, err := output(ctx, "", nil, "go", "env", "GOVERSION")
	if err != nil {
		return "", fmt.Errorf("asking for the Go version: %w", err)
	}
	return strings.TrimSpace(string(version)) + " linux/" + runtime.GOARCH, nil
}
