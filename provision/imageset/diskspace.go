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

// SpaceToBuild is what building an image set takes, with empty caches of Go;
// SpaceToRun what pulling or unpacking and loading it takes.
const (
	SpaceToBuild = 12 << 30
	SpaceToRun   = 4 << 30
)

const SpaceFix = "free some, or name a folder with room: XDG_CACHE_HOME=/folder make e2e"

// RequireSpace is an error if less is free in a folder.
func RequireSpace(folder string, need uint64) error {
	free, err := FreeBytes(folder)
	if err == nil && free < need {
		err = fmt.Errorf("only %d GiB are free in %s, %d are needed\n   %s", free>>30, folder, need>>30, SpaceFix)
	}
	return err
}

// PullInstead is the fix where images cannot be built.
const PullInstead = "pull them: LAB_IMAGES=registry, or take them from a file that another machine saved: .lab/bin/lab images load FILE"

// mayBuild is an error where images cannot be built from source: that makes a Debian
// root file system, as root, and runs programs of the result.
func mayBuild(system string, user int) error {
	switch {
	case system != "linux":
		return errors.New("building from source needs Linux and root; " + PullInstead)
	case user != 0:
		return errors.New("building the images from source makes a root file system, which takes root\n   sudo -E make e2e; or pull them: LAB_IMAGES=registry")
	}
	return nil
}

// RefuseToBuild is an error, before anything is done, if LAB_IMAGES=source cannot be
// met here.
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

// prepareBuild checks for root and disk space and installs the packages. A finished
// set needs none of these.
func (l *Resolver) prepareBuild(ctx context.Context, say func(string)) error {
	if err := mayBuild(runtime.GOOS, os.Geteuid()); err != nil {
		return err
	}
	if err := RequireSpace(l.Folder, SpaceToBuild); err != nil {
		return err
	}
	return engine.Install(ctx, engine.MissingPackages(engine.Builds), say)
}

// FreeBytes is what an ordinary user can still write below a folder.
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
