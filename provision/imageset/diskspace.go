package imageset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/images"
)

// Room that an image set takes, in bytes: to build it, with Go's build cache and
// module cache when nothing is cached yet; and to pull or unpack it and load it.
const (
	SpaceToBuild = 12 << 30
	SpaceToRun   = 4 << 30
)

const SpaceFix = "free some, or name a folder with room: XDG_CACHE_HOME=/folder make e2e"

// roomFor is an error if so many bytes are not free for the image cache.
func RequireSpace(folder string, need uint64) error {
	free, err := FreeBytes(folder)
	if err == nil && free < need {
		err = fmt.Errorf("only %d GiB are free in %s, %d are needed\n   %s", free>>30, folder, need>>30, SpaceFix)
	}
	return err
}

// elsewhereBuilt is what to do where images cannot be built.
const PullInstead = "pull them: LAB_IMAGES=registry, or take them from a file that another machine saved: make images-load FILE=f"

// mayBuild is an error where images cannot be built from source: a root file system
// of Debian is made, as root, and programs of the result are run.
func mayBuild(system string, user int) error {
	switch {
	case system != "linux":
		return errors.New("building from source needs Linux and root; " + PullInstead)
	case user != 0:
		return errors.New("building the images from source makes a root file system, which takes root\n   sudo -E make e2e; or pull them: LAB_IMAGES=registry")
	}
	return nil
}

// refuseToBuild tells, before anything is done, that LAB_IMAGES=source asks for what
// this machine cannot do.
func (l *Resolver) RefuseToBuild(ctx context.Context) error {
	refused := mayBuild(runtime.GOOS, os.Geteuid())
	if os.Getenv("LAB_IMAGES") != string(images.Source) || refused == nil {
		return nil
	}
	if _, found, err := l.Builder(func(string) {}).Cached(ctx); found || err != nil {
		return err
	}
	return refused
}

// prepareBuild sees to what building the images from source needs: root, room and
// the packages. A set that is finished needs none of it.
func (l *Resolver) prepareBuild(ctx context.Context, say func(string)) error {
	if err := mayBuild(runtime.GOOS, os.Geteuid()); err != nil {
		return err
	}
	if err := RequireSpace(l.Folder, SpaceToBuild); err != nil {
		return err
	}
	return engine.Install(ctx, engine.MissingPackages(engine.Builds), say)
}

// freeBytes is how much an ordinary user can still write below folder.
func FreeBytes(folder string) (uint64, error) {
	var stat unix.Statfs_t
	for ; ; folder = filepath.Dir(folder) {
		err := unix.Statfs(folder, &stat)
		if err == nil {
			return stat.Bavail * uint64(stat.Bsize), nil //nolint:gosec // a block size is positive
		}
		if err != unix.ENOENT || folder == filepath.Dir(folder) {
			return 0, fmt.Errorf("looking for free disk in %s: %w", folder, err)
		}
	}
}
