package provision

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/source"
)

// Images gets the image set in the way that LAB_IMAGES names and lists it.
func (l *ImageSets) Images(ctx context.Context) error {
	told := newProgress(os.Stdout)
	defer told.close()
	got, err := l.get(ctx, told)
	if err != nil {
		return err
	}
	describeSet(told, got.set)
	if !got.pulled {
		return nil
	}
	pull, err := l.puller(func(string) {})
	if err != nil {
		return err
	}
	added, err := pull.Note(got.set, l.Checkout)
	if added > 0 {
		told.note("%d digests were added to provision/registry/digests.yaml; commit it, and nothing else is taken for these names", added)
	}
	return err
}

// get is imageSet as a line of a list.
func (l *ImageSets) get(ctx context.Context, told *progress) (resolvedSet, error) {
	line := told.start("images")
	got, err := l.imageSet(ctx, line.say)
	line.end(fmt.Sprintf("%s (%s)", got.how, got.origin()), err)
	for _, reason := range got.notes() {
		told.note("%s", reason)
	}
	return got, err
}

// ListImages lists what of this checkout's sets is on this machine, and what they
// are made of. It pulls, builds and asks nothing.
func (l *ImageSets) ListImages(ctx context.Context) error {
	told := newProgress(os.Stdout)
	defer told.close()
	l.onlyLooks = true
	pull, err := l.puller(func(string) {})
	if err != nil {
		return err
	}
	s := pull.Sources
	told.note("registry: %s\n  JobSet %s   %s\n  Kueue %s   %s\n  steps %s", s.Node, s.JobSet.Version, s.JobSet.Manifest,
		s.Kueue.Version, s.Kueue.Manifest, s.Steps)
	set, found, err := pull.Cached(ctx)
	if err != nil {
		return err
	}
	l.describe(told, set, found, images.Registry)
	told.note("source: versions in provision/source/programs/go.mod")
	set, found, err = l.builder(func(string) {}).Cached(ctx)
	if err != nil {
		return err
	}
	l.describe(told, set, found, images.Source)
	return nil
}

// describe lists a set of a mode, or says why there is none.
func (l *ImageSets) describe(told *progress, set images.Set, found bool, mode images.Mode) {
	for _, how := range l.damage.take() {
		told.note("%s", how)
	}
	if found {
		describeSet(told, set)
	} else {
		told.note("not on this machine yet: LAB_IMAGES=%s make images", mode)
	}
}

func describeSet(told *progress, set images.Set) {
	told.note("  node        %s\n  archive     %s\n  Kubernetes  %s\n  JobSet      %s\n  Kueue       %s\n  manifests   %s",
		set.Node, set.Archive, set.Kubernetes, set.JobSet, set.Kueue, filepath.Dir(set.JobSetManifest))
	for _, what := range slices.Sorted(maps.Keys(set.From)) {
		told.note("  pulled      %s %s", what, set.From[what])
	}
}

// SaveImages writes the set that LAB_IMAGES names to one file, from which a
// machine without any network can start. What is not cached is got first.
func (l *ImageSets) SaveImages(ctx context.Context, to string) error {
	if err := images.MaySave(to); err != nil {
		return err
	}
	told := newProgress(os.Stdout)
	defer told.close()
	got, err := l.get(ctx, told)
	if err != nil {
		return err
	}
	line := told.start("saved")
	if err := roomForArchive(filepath.Dir(got.set.Archive), to); err != nil {
		line.end(to, err)
		return err
	}
	err = images.Save(ctx, filepath.Dir(got.set.Archive), to, line.say)
	line.end(to, err)
	return err
}

// roomForArchive is an error where the archive of a set does not fit beside what is there.
func roomForArchive(set, to string) error {
	need, err := images.Size(set)
	if err != nil {
		return err
	}
	free, err := freeBytes(filepath.Dir(to))
	if err == nil && free < need+need/100 {
		err = fmt.Errorf("%s takes %d MB, and %d MB are free in %s; name a file elsewhere", to, need/1e6, free/1e6, filepath.Dir(to))
	}
	return err
}

// LoadImages puts a saved set into the cache, every part checked. A lab of that
// mode then starts from it, and needs no network and no building.
func (l *ImageSets) LoadImages(ctx context.Context, from string) error {
	told := newProgress(os.Stdout)
	defer told.close()
	line := told.start("loaded")
	set, err := l.cache().Load(ctx, from, line.say, l.fits)
	line.end(fmt.Sprintf("%s (%s, k8s %s, JobSet %s)", filepath.Base(from), set.Mode.Origin(), set.Kubernetes, set.JobSet), err)
	return err
}

// fits says why a set is not one for this machine and checkout.
func (l *ImageSets) fits(set images.Set) error {
	if set.Architecture != runtime.GOARCH {
		return fmt.Errorf("it is for machines of %s, this one is of %s", set.Architecture, runtime.GOARCH)
	}
	pull, err := l.puller(func(string) {})
	if err != nil {
		return err
	}
	wanted, err := pull.Inputs()
	if set.Mode == images.Source {
		wanted, err = l.builder(func(string) {}).Inputs()
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

// Release returns this checkout's source build as others would release it, for a
// stand-in of the registries; what is not cached is built.
func (l *ImageSets) Release(ctx context.Context) (source.Release, error) {
	told := newProgress(os.Stdout)
	defer told.close()
	line := told.start("release")
	release, spent, err := l.builder(line.say).Release(ctx)
	line.end(fmt.Sprintf("JobSet %s, Kueue %s as releases, %d parts built just now", release.JobSet, release.Kueue, len(spent)), err)
	return release, err
}
