package images

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MaySave is an error if Save could not write its archive, or would replace something
// else. It leaves nothing behind.
func MaySave(to string) error {
	switch info, err := os.Lstat(to); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("the archive cannot be written: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it: .lab/bin/lab images save %s", to, filepath.Join(to, "images.tar"))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no ordinary file (%s); name another one", to, info.Mode().Type())
	case info.Size() > 0 && !isArchive(to):
		return fmt.Errorf("%s is there and is not an archive that lab images save wrote; name another file, or remove it: rm %s", to, to)
	}
	part, err := partOf(to)
	if err != nil {
		return err
	}
	return errors.Join(part.Close(), os.Remove(part.Name()))
}

// partOf is a new file next to to, to be renamed when it is complete.
func partOf(to string) (*os.File, error) {
	part, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".part-*")
	if err != nil {
		return nil, fmt.Errorf("the archive cannot be written: %w", err)
	}
	return part, nil
}

// isArchive reports whether a file begins as an archive of Save.
func isArchive(path string) bool {
	in, err := os.Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	header, err := tar.NewReader(in).Next()
	return err == nil && header.Name == sumsFile
}

// Size is how many bytes the files of a set take, and its archive about as many.
func Size(dir string) (bytes uint64, err error) {
	names, err := partsOf(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return 0, err
		}
		bytes += uint64(info.Size()) //nolint:gosec // a size is positive
	}
	return bytes, nil
}

// partsOf are the names of a set's files in the order in which an archive holds them:
// what it is comes before the bulk of it.
func partsOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the image set: %w", err)
	}
	names := []string{setFile}
	for _, entry := range entries {
		if entry.Type().IsRegular() && entry.Name() != setFile && entry.Name() != noteFile {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
