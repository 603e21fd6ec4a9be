package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// biggestOurs bounds what is read to find out whether a file is ours: none that a
// step writes is nearly as big.
const biggestOurs = 1 << 20

// DigestAt is the digest of the regular file at a path; empty where something else
// is there: a link, which a run never makes, a folder, a pipe, a file that cannot be
// read or is too big to be ours. Whether anything is there at all is the second value.
func DigestAt(path string) (sum string, there bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("looking into the work directory: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > biggestOurs {
		return "", true, nil
	}
	// It may have become a link or a pipe since.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", true, nil //nolint:nilerr // what cannot be read is not known to be ours
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, biggestOurs+1))
	if err != nil || len(content) > biggestOurs {
		return "", true, nil //nolint:nilerr // the same
	}
	return text.Digest(content), true, nil
}

// ReplaceFile writes a file beside the path and gives it that name: who reads it
// meanwhile reads one or the other, and what had the name before is never written
// into, neither through a link nor where the file has another name too.
func ReplaceFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
