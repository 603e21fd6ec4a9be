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

	"gsb.test/jobset-e2e/provision/images"
)

// Room that an image set takes, in bytes: to build it, with Go's build cache and
// module cache when nothing is cached yet; and to pull or unpack it and load it.
const (
	roomToBuild = 12 << 30
	roomToRun   = 4 << 30
)

const roomMend = "free some, or name a folder with room: XDG_CACHE_HOME=/folder make e2e"

// roomFor is an error if so many bytes are not free for the image cache.
func roomFor(folder string, need uint64) error {
	free, err := freeBytes(folder)
	if err == nil && free < need {
		err = fmt.Errorf("only %d GiB are free in %s, %d are needed\n   %s", free>>30, folder, need>>30, roomMend)
	}
	return err
}

// elsewhereBuilt is what to do where images cannot be built.
const elsewhereBuilt = "pull them: LAB_IMAGES=registry, or take them from a file that another machine saved: make images-load FILE=f"

// mayBuild is an error where images cannot be built from source: a root file system
// of Debian is made, as root, and programs of the result are run.
func mayBuild(system string, user int) error {
	switch {
	case system != "linux":
		return errors.New("building from source needs Linux and root; " + elsewhereBuilt)
	case user != 0:
		return errors.New("building the images from source makes a root file system, which takes root\n   sudo -E make e2e; or pull them: LAB_IMAGES=registry")
	}
	return nil
}

// sharedWithDocker is an error where Docker's virtual machine does not see a folder
// of which the node mounts files: elsewhere than on Linux that is sure for what lies
// below the user's home only.
func sharedWithDocker(system, home, folder string) error {
	if system == "linux" || folder == home || strings.HasPrefix(folder, home+string(filepath.Separator)) {
		return nil
	}
	return fmt.Errorf("the node mounts files of %s, and Docker's virtual machine sees only what is below your home folder\n   XDG_CACHE_HOME=%s make e2e", folder, filepath.Join(home, "lab-cache"))
}

// refuseToBuild tells, before anything is done, that LAB_IMAGES=source asks for what
// this machine cannot do.
func (l *ImageSets) refuseToBuild(ctx context.Context) error {
	refused := mayBuild(runtime.GOOS, os.Geteuid())
	if os.Getenv("LAB_IMAGES") != string(images.Source) || refused == nil {
		return nil
	}
	if _, found, err := l.builder(func(string) {}).Cached(ctx); found || err != nil {
		return err
	}
	return refused
}

// prepareBuild sees to what building the images from source needs: root, room and
// the packages. A set that is finished needs none of it.
func (l *ImageSets) prepareBuild(ctx context.Context, say func(string)) error {
	if err := mayBuild(runtime.GOOS, os.Geteuid()); err != nil {
		return err
	}
	if err := roomFor(l.Folder, roomToBuild); err != nil {
		return err
	}
	return install(ctx, missingPackages(builds), say)
}

// freeBytes is how much an ordinary user can still write below folder.
func freeBytes(folder string) (uint64, error) {
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
