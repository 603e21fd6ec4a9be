// Package source makes the image set of a lab where no image registry answers:
// every program from source that go.mod pins and go.sum checks, on a root of
// Debian packages that apt checks. It needs root (a root file system is made),
// Debian's mmdebstrap, the Go module proxy and a Debian mirror.
package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
)

// recipe is part of every key: raise it when the code here makes something else
// of the same inputs.
const recipe = "1"

// Builder builds image sets.
type Builder struct {
	// Checkout is the folder of this repository.
	Checkout string
	Cache    Cache
	// Say hears what is being done, often.
	Say func(string)
}

// Spent is what a part took to build; nothing was spent on a part that was cached.
type Spent struct {
	Part string
	Took time.Duration
}

// Build returns the image set of this checkout, building what is not cached yet.
func (b Builder) Build(ctx context.Context) (images.Set, []Spent, error) {
	pins, err := fixtures.ReadPins()
	if err != nil {
		return images.Set{}, nil, err
	}
	modules, err := openModule(filepath.Join(b.Checkout, "provision", "source", "programs"))
	if err != nil {
		return images.Set{}, nil, err
	}
	compiler, err := toolchain(ctx)
	if err != nil {
		return images.Set{}, nil, err
	}
	programInputs, err := filesIn(modules.dir, func(string) bool { return true })
	if err != nil {
		return images.Set{}, nil, err
	}
	programArgs, err := modules.buildArgs()
	if err != nil {
		return images.Set{}, nil, err
	}
	gpuInputs, err := b.gpuInputs()
	if err != nil {
		return images.Set{}, nil, err
	}
	board := &board{say: b.Say, parts: map[string]string{}}
	keys := map[string]key{
		"programs": keyOf(append(append(programInputs, programArgs...), strings.Join(goEnv, " "), compiler, recipe)...),
		"fake-gpu": keyOf(append(gpuInputs, compiler, recipe)...),
		"debian":   keyOf(strings.Join(append(nodeOptions, nodePackages...), "\n"), suite, pins.Image, compiler, recipe),
		"proxy":    keyOf(strings.Join(append(proxyOptions, proxyPackages...), "\n"), suite, compiler, recipe),
	}
	fill := map[string]func(context.Context, string) error{
		"programs": func(ctx context.Context, dir string) error {
			return modules.build(ctx, dir, func(s string) { board.put("programs", s) })
		},
		"fake-gpu": func(ctx context.Context, dir string) error {
			return run(ctx, b.Checkout, goEnv, "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, "fake-gpu"), "./provision/fakegpu")
		},
		"debian": func(ctx context.Context, dir string) error {
			board.put("debian", "installing the Debian root")
			root := filepath.Join(dir, "root.tar")
			if err := debian(ctx, nodeOptions, nodePackages, root); err != nil {
				return err
			}
			return takeBusybox(ctx, root, dir, pins.Image)
		},
		"proxy": func(ctx context.Context, dir string) error {
			return debian(ctx, proxyOptions, proxyPackages, filepath.Join(dir, "root.tar"))
		},
	}
	var lock sync.Mutex
	var spent []Spent
	dirs := map[string]string{}
	group, groupCtx := errgroup.WithContext(ctx)
	for name := range keys {
		group.Go(func() error {
			dir, took, err := b.Cache.Entry(groupCtx, name, keys[name], func(s string) { board.put(name, s) }, fill[name])
			board.put(name, "")
			lock.Lock()
			defer lock.Unlock()
			dirs[name] = dir
			if took > 0 {
				spent = append(spent, Spent{name, took})
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return images.Set{}, spent, err
	}
	p := parts{programs: dirs["programs"], debian: dirs["debian"], proxy: dirs["proxy"], gpu: dirs["fake-gpu"]}
	n, err := newNode(b.Checkout, modules, p, pins)
	if err != nil {
		return images.Set{}, spent, err
	}
	n.key = keyOf(keys["programs"].sum, keys["fake-gpu"].sum, keys["debian"].sum, keys["proxy"].sum,
		n.gpuManifest, n.kind, sealScript, conflist, storageClass, recipe)
	dir, took, err := b.Cache.Entry(ctx, "node", n.key, func(s string) { board.put("node", s) }, func(ctx context.Context, dir string) error {
		board.put("node", "putting the node image together")
		return n.fill(ctx, dir)
	})
	if took > 0 {
		spent = append(spent, Spent{"node image", took})
	}
	return n.set(dir), spent, err
}

// board joins what the parts being built have to say into one line.
type board struct {
	lock  sync.Mutex
	parts map[string]string
	say   func(string)
}

func (b *board) put(part, text string) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.parts[part] = text
	var lines []string
	for _, part := range []string{"programs", "debian", "proxy", "fake-gpu", "node"} {
		if b.parts[part] != "" {
			lines = append(lines, b.parts[part])
		}
	}
	b.say(strings.Join(lines, "; "))
}

func (b Builder) gpuInputs() ([]string, error) {
	inputs, err := filesIn(filepath.Join(b.Checkout, "provision", "fakegpu"), func(path string) bool {
		return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
	})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(b.Checkout, name))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, string(content))
	}
	return inputs, nil
}
