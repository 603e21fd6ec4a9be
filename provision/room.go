package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Room that an image set takes, in bytes: to build it, with Go's build cache and
// module cache when nothing is cached yet; and to pull or unpack it and load it.
const (
	roomToBuild = 12 << 30
	roomToRun   = 4 << 30
)

const roomMend = "free some, or name a folder with room: XDG_CACHE_HOME=/folder make e2e"

// roomFor is an error if so many bytes are not free for the image cache.
func (l *Lab) roomFor(need uint64) error {
	free, err := freeBytes(l.Folder)
	if err == nil && free < need {
		err = fmt.Errorf("only %d GiB are free in %s, %d are needed\n   %s", free>>30, l.Folder, need>>30, roomMend)
	}
	return err
}

// prepareBuild sees to what building the images from source needs: root, room and
// the packages. A set that is finished needs none of it.
func (l *Lab) prepareBuild(ctx context.Context, say func(string)) error {
	if os.Geteuid() != 0 {
		return errors.New("building the images from source makes a root file system, which takes root\n   sudo -E make e2e; or pull them: LAB_IMAGES=registry")
	}
	if err := l.roomFor(roomToBuild); err != nil {
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
