// Package source makes the image set of a lab where no image registry answers:
// every program from source that go.mod pins and go.sum checks, on a root of
// Debian packages that apt checks. It needs root (a root file system is made),
// Debian's mmdebstrap, the Go module proxy and a Debian mirror.
package source

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
)

// Builder builds image sets.
type Builder struct {
	// Checkout is the folder of this repository.
	Checkout string
	Pins     fixtures.Pins
	Cache    images.Cache
	// Say is called often with what is being done.
	Say func(string)
	// Prepare is called once before anything is built: it prepares the machine for
	// building. It may be nil.
	Prepare func(context.Context) error
}

// BuildTime is how long a part took to build. A cached part has none.
type BuildTime struct {
	Part string
	Took time.Duration
}

// Cached returns the set of this checkout if it is finished or was loaded from an
// archive. It builds and requests nothing.
func (b Builder) Cached(ctx context.Context) (images.Set, bool, error) {
	p, err := b.plan()
	if err != nil {
		return images.Set{}, false, err
	}
	if set, found, err := b.Cache.Loaded(ctx, images.Source, p.whole("")); found || err != nil {
		return set, found, err
	}
	key, err := b.FinishedKey(ctx)
	if err != nil {
		return images.Set{}, false, err
	}
	dir, whole := b.Cache.Find(ctx, nodeEntry, key)
	if !whole {
		return images.Set{}, false, nil
	}
	set, err := images.Read(dir)
	return set, err == nil, err
}

// Inputs is the key of the set's inputs, the compiler left out: archives are
// identified by it.
func (b Builder) Inputs() (images.Key, error) {
	p, err := b.plan()
	return p.whole(""), err
}

// FinishedKey is the key of the set as this machine builds it.
func (b Builder) FinishedKey(ctx context.Context) (images.Key, error) {
	p, err := b.plan()
	if err != nil {
		return images.Key{}, err
	}
	compiler, err := toolchain(ctx)
	return p.whole(compiler), err
}

// nodeEntry is the cache entry of a finished set.
const nodeEntry = "node"

// Build returns the image set of this checkout, building what is not cached yet.
func (b Builder) Build(ctx context.Context) (images.Set, []BuildTime, error) {
	if set, found, err := b.Cached(ctx); found || err != nil {
		return set, nil, err
	}
	dir, spent, err := b.assemble(ctx, nodeEntry, (*node).fill)
	if err != nil {
		return images.Set{}, spent, err
	}
	set, err := images.Read(dir)
	return set, spent, err
}

// assemble returns an entry made of the node's parts, building what is not cached.
func (b Builder) assemble(ctx context.Context, entry string, fill func(*node, context.Context, string) error) (string, []BuildTime, error) {
	p, err := b.plan()
	if err != nil {
		return "", nil, err
	}
	compiler, err := toolchain(ctx)
	if err != nil {
		return "", nil, err
	}
	if dir, whole := b.Cache.Find(ctx, entry, p.whole(compiler)); whole {
		return dir, nil, nil
	}
	board := &screen{say: b.Say, parts: map[string]string{}}
	n, spent, err := b.parts(ctx, p, compiler, board)
	if err != nil {
		return "", spent, err
	}
	dir, took, err := b.Cache.Entry(ctx, entry, p.whole(compiler), func(s string) { board.show("node", s) }, func(ctx context.Context, dir string) error {
		board.show("node", "putting the node image together")
		return fill(n, ctx, dir)
	})
	if took > 0 {
		spent = append(spent, BuildTime{"node image", took})
	}
	return dir, spent, err
}

// parts builds the parts of the node image in parallel.
func (b Builder) parts(ctx context.Context, p plan, compiler string, board *screen) (*node, []BuildTime, error) {
	fill := map[string]func(context.Context, string) error{
		"programs": p.buildPrograms(func(s string) { board.show("programs", s) }),
		"fake-gpu": b.buildFakeGPU,
		"debian": func(ctx context.Context, dir string) error {
			board.show("debian", "installing the Debian root")
			root := filepath.Join(dir, "root.tar")
			if err := debian(ctx, nodeOptions, nodePackages, root); err != nil {
				return err
			}
			return takeBusybox(ctx, root, dir, p.pins.Image)
		},
		"proxy": func(ctx context.Context, dir string) error {
			return debian(ctx, proxyOptions, proxyPackages, filepath.Join(dir, "root.tar"))
		},
	}
	keys := p.keys(compiler)
	if err := b.prepare(ctx, keys); err != nil {
		return nil, nil, err
	}
	var lock sync.Mutex
	var spent []BuildTime
	dirs := map[string]string{}
	group, groupCtx := errgroup.WithContext(ctx)
	for name := range keys {
		group.Go(func() error {
			dir, took, err := b.Cache.Entry(groupCtx, name, keys[name], func(s string) { board.show(name, s) }, fill[name], partFiles[name]...)
			board.show(name, "")
			lock.Lock()
			defer lock.Unlock()
			dirs[name] = dir
			if took > 0 {
				spent = append(spent, BuildTime{name, took})
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, spent, err
	}
	n := &node{plan: p, key: p.whole(compiler),
		parts: parts{programs: dirs["programs"], debian: dirs["debian"], proxy: dirs["proxy"], gpu: dirs["fake-gpu"]}}
	return n, spent, nil
}

// Programs returns the folder of the node's programs, building what is not cached.
func (b Builder) Programs(ctx context.Context) (string, error) {
	p, err := b.plan()
	if err != nil {
		return "", err
	}
	compiler, err := toolchain(ctx)
	if err != nil {
		return "", err
	}
	dir, _, err := b.Cache.Entry(ctx, "programs", p.keys(compiler)["programs"], b.Say, p.buildPrograms(b.Say), partFiles["programs"]...)
	return dir, err
}

func (p plan) buildPrograms(say func(string)) func(context.Context, string) error {
	return func(ctx context.Context, dir string) error { return p.modules.build(ctx, dir, say) }
}

// partFiles are the files of each part; an entry without one of them is not used.
var partFiles = map[string][]string{
	"programs": programNames(), "fake-gpu": {"fake-gpu"}, "debian": {"root.tar", "busybox", "applets"}, "proxy": {"root.tar"},
}

func programNames() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	return names
}

// prepare prepares the machine if there is anything to build.
func (b Builder) prepare(ctx context.Context, keys map[string]images.Key) error {
	if b.Prepare == nil {
		return nil
	}
	for name, key := range keys {
		if _, whole := b.Cache.Find(ctx, name, key, partFiles[name]...); !whole {
			return b.Prepare(ctx)
		}
	}
	return nil
}

// screen joins the progress of all parts being built into one line.
type screen struct {
	lock  sync.Mutex
	parts map[string]string
	say   func(string)
}

func (b *screen) show(part, text string) {
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
