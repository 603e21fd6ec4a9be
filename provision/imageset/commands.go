package imageset

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/progress"
	"gsb.test/jobset-e2e/provision/source"
)

// Images gets the image set in the way that LAB_IMAGES names and lists it.
func (l *Resolver) Images(ctx context.Context) error {
	list := progress.New(os.Stdout)
	defer list.Close()
	got, err := l.get(ctx, list)
	if err != nil {
		return err
	}
	describeSet(list, got.Set)
	if !got.pulled {
		return nil
	}
	pull, err := l.puller(func(string) {})
	if err != nil {
		return err
	}
	added, err := pull.Note(got.Set, l.Checkout)
	if added > 0 {
		list.Note("%d digests were added to provision/registry/digests.yaml; commit it: only these digests are accepted from then on", added)
	}
	return err
}

// get is Resolve as a line of a list.
func (l *Resolver) get(ctx context.Context, list *progress.List) (Resolved, error) {
	line := list.Start("images")
	got, err := l.Resolve(ctx, line.Say)
	line.End(fmt.Sprintf("%s (%s)", got.How, got.Origin()), err)
	for _, reason := range got.Notes() {
		list.Note("%s", reason)
	}
	return got, err
}

// List prints the image sets of this checkout, their content, and which of them are on
// this machine. It does not pull, build or send anything.
func (l *Resolver) List(ctx context.Context) error {
	list := progress.New(os.Stdout)
	defer list.Close()
	l.onlyLooks = true
	pull, err := l.puller(func(string) {})
	if err != nil {
		return err
	}
	s := pull.Sources
	list.Note("registry: %s\n  JobSet %s   %s\n  Kueue %s   %s\n  steps %s", s.Node, s.JobSet.Version, s.JobSet.Manifest,
		s.Kueue.Version, s.Kueue.Manifest, s.Steps)
	set, found, err := pull.Cached(ctx)
	if err != nil {
		return err
	}
	l.describe(list, set, found, images.Registry)
	list.Note("source: versions in provision/source/programs/go.mod")
	set, found, err = l.Builder(func(string) {}).Cached(ctx)
	if err != nil {
		return err
	}
	l.describe(list, set, found, images.Source)
	return nil
}

// describe prints a set of a mode, or how to get it.
func (l *Resolver) describe(list *progress.List, set images.Set, found bool, mode images.Mode) {
	for _, how := range l.Damage.Take() {
		list.Note("%s", how)
	}
	if found {
		describeSet(list, set)
	} else {
		list.Note("not on this machine yet: LAB_IMAGES=%s make images", mode)
	}
}

func describeSet(list *progress.List, set images.Set) {
	list.Note("  node        %s\n  archive     %s\n  Kubernetes  %s\n  JobSet      %s\n  Kueue       %s\n  manifests   %s",
		set.Node, set.Archive, set.Kubernetes, set.JobSet, set.Kueue, filepath.Dir(set.JobSetManifest))
	for _, what := range slices.Sorted(maps.Keys(set.From)) {
		list.Note("  pulled      %s %s", what, set.From[what])
	}
}

// Save writes the set that LAB_IMAGES names to one file, from which a machine without
// a network can start. A set that is not cached is resolved first.
func (l *Resolver) Save(ctx context.Context, to string) error {
	if err := images.MaySave(to); err != nil {
		return err
	}
	list := progress.New(os.Stdout)
	defer list.Close()
	got, err := l.get(ctx, list)
	if err != nil {
		return err
	}
	line := list.Start("saved")
	if err := requireArchiveSpace(filepath.Dir(got.Set.Archive), to); err != nil {
		line.End(to, err)
		return err
	}
	err = images.Save(ctx, filepath.Dir(got.Set.Archive), to, line.Say)
	line.End(to, err)
	return err
}

// requireArchiveSpace is an error if the archive of a set does not fit.
func requireArchiveSpace(set, to string) error {
	need, err := images.Size(set)
	if err != nil {
		return err
	}
	free, err := FreeBytes(filepath.Dir(to))
	if err == nil && free < need+need/100 {
		err = fmt.Errorf("%s takes %d MB, and %d MB are free in %s; name a file elsewhere", to, need/1e6, free/1e6, filepath.Dir(to))
	}
	return err
}

// Load puts a saved set into the cache and checks every part. A lab of that mode then
// needs no network and no building.
func (l *Resolver) Load(ctx context.Context, from string) error {
	list := progress.New(os.Stdout)
	defer list.Close()
	line := list.Start("loaded")
	set, err := l.cache().Load(ctx, from, line.Say, l.fits)
	line.End(fmt.Sprintf("%s (%s, k8s %s, JobSet %s)", filepath.Base(from), set.Mode.Origin(), set.Kubernetes, set.JobSet), err)
	return err
}

// fits is an error if a set is not for this machine and checkout.
func (l *Resolver) fits(set images.Set) error {
	if set.Architecture != runtime.GOARCH {
		return fmt.Errorf("it is for machines of %s, this one is of %s", set.Architecture, runtime.GOARCH)
	}
	pull, err := l.puller(func(string) {})
	if err != nil {
		return err
	}
	wanted, err := pull.Inputs()
	if set.Mode == images.Source {
		wanted, err = l.Builder(func(string) {}).Inputs()
	}
	if err != nil {
		return err
	}
	if set.Inputs != wanted.String() {
		return fmt.Errorf("it was saved by another checkout than this one, or with another LAB_MIRROR file: it has k8s %s, JobSet %s, Kueue %s (%s)\n   use the checkout that saved it, or save it again from this one",
			set.Kubernetes, set.JobSet, set.Kueue, set.Mode.Origin())
	}
	return nil
}

// Release returns this checkout's source build as a release, for the test registry. It
// builds what is not cached.
func (l *Resolver) Release(ctx context.Context) (source.Release, error) {
	list := progress.New(os.Stdout)
	defer list.Close()
	line := list.Start("release")
	release, spent, err := l.Builder(line.Say).Release(ctx)
	line.End(fmt.Sprintf("JobSet %s, Kueue %s as releases, %d parts built just now", release.JobSet, release.Kueue, len(spent)), err)
	return release, err
}
