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

// ImageSets finds, pulls and builds the image sets of a lab.
type Resolver struct {
	*labs.Lab
	// onlyLooks leaves the image cache as it is.
	onlyLooks bool
	Damage    damage
}

func (l *Resolver) cache() images.Cache {
	return images.Cache{Dir: filepath.Join(l.Folder, "images"), ReadOnly: l.onlyLooks, Damaged: l.Damage.note}
}

// builder builds this checkout's image set from source.
func (l *Resolver) Builder(say func(string)) source.Builder {
	return source.Builder{Checkout: l.Checkout, Pins: l.Pins, Cache: l.cache(), Say: say,
		Prepare: func(ctx context.Context) error { return l.prepareBuild(ctx, say) }}
}

// puller pulls this checkout's image set from registries, by LAB_MIRROR's leave.
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

// come is an image set and how it was come by.
type Resolved struct {
	Set images.Set
	// how is what was done now, for the list.
	How string
	// silent are the hosts that did not answer, where that was why it was built, one a line.
	silent []string
	// damaged is what was found damaged in the cache, one a line.
	damaged []string
	// pulled tells that the set was pulled just now.
	pulled bool
}

// notes are the lines below the one that says how the set was come by.
func (c Resolved) Notes() []string { return append(slices.Clone(c.damaged), c.silent...) }

// origin is the way that was taken, and why where it was a choice.
func (c Resolved) Origin() string {
	if len(c.silent) == 0 {
		return c.Set.Mode.Origin()
	}
	first, _, _ := strings.Cut(c.silent[0], ": ")
	return c.Set.Mode.Origin() + ", as " + first
}

// imageSet gets the set, and tells what of the cache had to be made again for it.
func (l *Resolver) Resolve(ctx context.Context, say func(string)) (Resolved, error) {
	got, err := l.choose(ctx, say)
	got.damaged = l.Damage.Take()
	return got, err
}

// chosenSet gets the set in the way that LAB_IMAGES names. With auto, the default,
// a finished set of the registries is taken, then one that was loaded from an
// archive; else the registries are asked, and the set is built from source where
// one of them does not answer.
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
	set, spent, err := build.Build(ctx)
	c := Resolved{Set: set, How: set.How()}
	if len(spent) > 0 {
		var parts []string
		for _, part := range spent {
			parts = append(parts, fmt.Sprintf("%s %s", part.Part, part.Took.Round(time.Second)))
		}
		c.How = "built: " + strings.Join(parts, ", ")
	}
	return c, err
}

// pulled pulls what is not cached. Where no host answers at all, this is told
// within seconds; where one does, every request is tried again as it deserves.
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
