package imageset

import (
	"context"
	"fmt"
	"os"
	"strings"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/registry"
)

// State says where the images of a lab would come from.
type State struct {
	// Found is what there is; Fix is what to type if that is not enough; Fatal: no lab can
	// be made with it.
	Found, Fix string
	Fatal      bool
}

// Examine finds the state and changes nothing.
func Examine(ctx context.Context, l *labs.Lab) State {
	var f State
	sets := &Resolver{Lab: l, onlyLooks: true}
	pull, err := sets.puller(func(string) {})
	if err != nil {
		f.Found, f.Fatal = err.Error(), true
		return f
	}
	switch set, found, err := pull.Cached(ctx); {
	case err != nil:
		f.Found, f.Fatal = err.Error(), true
	case os.Getenv("LAB_IMAGES") == "source":
		f.Found = "built from source, as LAB_IMAGES says"
		if set, found, err := sets.Builder(func(string) {}).Cached(ctx); err == nil && found {
			f.Found = "from the cache, of a source build: JobSet " + set.JobSet + versionAside(l.Pins, set)
		}
	case found:
		f.Found = "from the cache, of the registries: JobSet " + set.JobSet + versionAside(l.Pins, set)
	default:
		answers := pull.Client().Probe(ctx, pull.Sources)
		silent := notAnswering(answers)
		if len(silent) == 0 {
			f.Found = fmt.Sprintf("pulled: all %d hosts answer", len(answers))
			break
		}
		f.Found = fmt.Sprintf("built from source: %d of %d hosts do not answer", len(silent), len(answers))
		f.Fix = strings.Join(append(silent, registry.Elsewhere), "\n")
		f.Fatal = os.Getenv("LAB_IMAGES") == "registry" && len(silent) == len(answers)
	}
	if damaged := sets.Damage.Take(); len(damaged) > 0 {
		f.Fix = strings.TrimSuffix(strings.Join(damaged, "\n")+"\n"+f.Fix, "\n")
	}
	return f
}

// versionAside is the version note in brackets; empty if there is none.
func versionAside(pins fixtures.Pins, set images.Set) string {
	if note := VersionNote(pins, set); note != "" {
		return " (" + note + ")"
	}
	return ""
}

// VersionNote names the pinned versions that a set does not have; empty if it has all.
func VersionNote(pins fixtures.Pins, set images.Set) string {
	others := set.Versions().Differ(pins.Versions())
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("the lab pins %s: a run on this lab is partial", strings.Join(others, " and "))
}
