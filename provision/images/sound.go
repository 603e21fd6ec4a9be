package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"gsb.test/jobset-e2e/provision/manifest"
)

// wholeFile is an error if a file is empty; a finished entry has no empty file.
func wholeFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 {
		err = errors.New("it is empty")
	}
	return err
}

// wholeTar reads the headers and the end of a tar, and not the content.
func wholeTar(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	var end [1024]byte
	if _, err := in.ReadAt(end[:], max(0, info.Size()-int64(len(end)))); err != nil || end != [1024]byte{} {
		return fmt.Errorf("it does not end as an archive does after %d bytes", info.Size())
	}
	for headers := tar.NewReader(in); ; {
		_, err := headers.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no whole archive: %w", err)
		}
	}
}

// wholeYAML reads a file of Kubernetes objects.
func wholeYAML(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(content, []byte("\n")) {
		return fmt.Errorf("it ends in the middle of a line after %d bytes", len(content))
	}
	_, err = manifest.Parse(content)
	return err
}
