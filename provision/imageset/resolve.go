// Package imageset finds the image set of a lab in the cache, pulls it, or builds it.
package imageset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/registry"
	"gsb.test/jobset-e2e/provision/source"
)

// Resolver finds, pulls and builds the image sets of a lab.
type Resolver struct {
	*labs.Lab
	// OnlyLooks leaves the image cache unchanged.
	onlyLooks bool
	Damage    damage
}

func (l *Resolver) cache() images.Cache {
	return images.Cache{Dir: filepath.Join(l.Folder, "images"), ReadOnly: l.onlyLooks, Damaged: l.Damage.note}
}

// Builder builds this checkout's image set from source.
func (l *Resolver) Builder(say func(string)) source.Builder {
	return source.Builder{Checkout: l.Checkout, Pins: l.Pins, Cache: l.cache(), Say: say,
		Prepare: func(ctx context.Context) error { return l.prepareBuild(ctx, say) }}
}

// Puller pulls this checkout's image set from registries, or from the mirrors in
// LAB_MIRROR.
func (l *Resolver) puller(say func(string)) (registry.Puller, error) {
	mirrors, err := registry.ReadMirrors(os.Getenv("LAB_MIRROR"))
	if err != nil {
		return registry.Puller{}, err
	}
	sources, err := registry.ReadSources(l.Pins, mirrors)
	if err != nil {
		return registry.Puller{}, err
	}
	return registry.Puller{Cache: l.cache(), Mirrors: mirrors, Sources: sources, Builder: l.Builder(say), Say: say}, nil
}

// Resolved is an image set and where it came from.
type Resolved struct {
	Set images.Set
	// how is what was done, for the list.
	How string
	// silent are the hosts that did not answer, one a line, if the set was built for that
	// reason.
	silent []string
	// damaged are the damaged cache entries, one a line.
	damaged []string
	// pulled: the set was pulled now.
	pulled bool
}

// Notes are the lines below that of the set.
func (c Resolved) Notes() []string { return append(slices.Clone(c.damaged), c.silent...) }

// Origin is where the set came from, and why if that was a choice.
func (c Resolved) Origin() string {
	if len(c.silent) == 0 {
		return c.Set.Mode.Origin()
	}
	first, _, _ := strings.Cut(c.silent[0], ": ")
	return c.Set.Mode.Origin() + ", as " + first
}

// Resolve returns the set, and which damaged cache entries it had to replace.
func (l *Resolver) Resolve(ctx context.Context, say func(string)) (Resolved, error) {
	got, err := l.choose(ctx, say)
	got.damaged = l.Damage.Take()
	return got, err
}

// choose returns the set by the mode in LAB_IMAGES. The mode auto, the default, takes
// a finished set of the registries, then one loaded from an archive. Else it pulls, or
// builds from source if a registry does not answer.
func (l *Resolver) choose(ctx context.Context, say func(string)) (Resolved, error) {
	setting := os.Getenv("LAB_IMAGES")
	pull, err := l.puller(say)
	if err != nil {
		return Resolved{}, err
	}
	build := l.Builder(say)
	switch setting {
	case "source":
		return built(ctx, build)
	case "registry":
		return l.pulled(ctx, pull, say)
	case "", "auto":
	default:
		return Resolved{}, fmt.Errorf("LAB_IMAGES is %q; it can be auto, registry or source", setting)
	}
	if set, found, err := pull.Cached(ctx); found || err != nil {
		return Resolved{Set: set, How: set.How()}, err
	}
	inputs, err := build.Inputs()
	if err != nil {
		return Resolved{}, err
	}
	if set, found, err := l.cache().Loaded(ctx, images.Source, inputs); found || err != nil {
		return Resolved{Set: set, How: set.How()}, err
	}
	say("asking the registries")
	answers := pull.Client().Probe(ctx, pull.Sources)
	if silent := notAnswering(answers); len(silent) > 0 {
		c, err := built(ctx, build)
		c.silent = silent
		return c, err
	}
	return l.pulled(ctx, pull, say)
}

func built(ctx context.Context, build source.Builder) (Resolved, error) {
	set, times, err := build.Build(ctx)
	c := Resolved{Set: set, How: set.How()}
	if len(times) > 0 {
		var parts []string
		for _, part := range times {
			parts = append(parts, fmt.Sprintf("%s %s", part.Part, part.Took.Round(time.Second)))
		}
		c.How = "built: " + strings.Join(parts, ", ")
	}
	return c, err
}

// pulled pulls what is not cached. If no host answers at all, it fails within seconds;
// if one does, each request is retried.
func (l *Resolver) pulled(ctx context.Context, pull registry.Puller, say func(string)) (Resolved, error) {
	set, found, err := pull.Cached(ctx)
	if found || err != nil {
		return Resolved{Set: set, How: set.How()}, err
	}
	say("asking the registries")
	answers := pull.Client().Probe(ctx, pull.Sources)
	if silent := notAnswering(answers); len(silent) == len(answers) {
		return Resolved{}, fmt.Errorf("LAB_IMAGES=registry, but no registry answers:\n   %s\n   %s", strings.Join(silent, "\n   "), registry.Elsewhere)
	}
	if err := RequireSpace(l.Folder, SpaceToRun); err != nil {
		return Resolved{}, err
	}
	set, took, err := pull.Pull(ctx)
	return Resolved{Set: set, How: fmt.Sprintf("pulled in %s", took.Round(time.Second)), pulled: err == nil}, err
}

func notAnswering(answers []registry.Answer) []string {
	var silent []string
	for _, answer := range answers {
		if answer.Err != nil {
			silent = append(silent, answer.String())
		}
	}
	return silent
}
