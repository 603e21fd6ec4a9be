package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
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
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not YAML: %w", err)
		}
		if object.Kind == "" || object.Metadata.Name == "" {
			return errors.New("an object in it has not both kind and name")
		}
	}
}
