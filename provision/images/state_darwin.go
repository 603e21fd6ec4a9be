package images

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stateOf is what of a file's entry in the file system changes with every write.
func stateOf(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "" // not a file of this system's
	}
	return fmt.Sprintf("%d %d.%d %d.%d", stat.Ino, stat.Mtimespec.Sec, stat.Mtimespec.Nsec, stat.Ctimespec.Sec, stat.Ctimespec.Nsec)
}
