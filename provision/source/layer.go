package source

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A file is one entry of an image layer: exactly one of From (a file on this
// machine), Text, Link (the target of a symbolic link) or none (a folder).
type file struct {
	Path string // in the image, without a leading slash
	From string
	Text string
	Link string
	Mode fs.FileMode
}

// writeLayer writes the files as an uncompressed tar. Of two files with one path the
// later one wins. Times and owners are zero, so that the same files are the same
// layer, which images share.
func writeLayer(path string, files []file) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	last := map[string]int{}
	for i, f := range files {
		last[f.Path] = i
	}
	layer := tar.NewWriter(out)
	for i, f := range files {
		if last[f.Path] != i {
			continue
		}
		if err := f.write(layer); err != nil {
			return fmt.Errorf("%s in the layer %s: %w", f.Path, filepath.Base(path), err)
		}
	}
	return layer.Close()
}

func (f file) write(layer *tar.Writer) error {
	header := &tar.Header{Name: f.Path, Mode: int64(f.Mode.Perm()), Format: tar.FormatPAX}
	switch {
	case f.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.Link, 0o777
	case f.From != "":
		info, err := os.Stat(f.From)
		if err != nil {
			return err
		}
		header.Typeflag, header.Size = tar.TypeReg, info.Size()
	case f.Mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, strings.TrimSuffix(f.Path, "/")+"/"
	default:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(f.Text))
	}
	if err := layer.WriteHeader(header); err != nil {
		return err
	}
	if f.From == "" {
		_, err := io.WriteString(layer, f.Text)
		return err
	}
	content, err := os.Open(f.From)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = io.Copy(layer, content)
	return err
}

// tree lists a folder of this machine as layer entries below prefix, with the modes it has.
func tree(dir, prefix string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f := file{Path: filepath.Join(prefix, relative), Mode: info.Mode()}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			f.Link, err = os.Readlink(path)
		case info.Mode().IsRegular():
			f.From = path
		case !info.IsDir():
			return nil // sockets and the like: what made them makes them again
		}
		files = append(files, f)
		return err
	})
	return files, err
}

// image stacks tar files into an image for this machine's architecture. The layers
// stay uncompressed: the archive never crosses a network, and each start of a lab
// unpacks it.
func image(config v1.Config, architecture string, layers ...string) (v1.Image, error) {
	result, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: architecture, Config: config,
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	for _, path := range layers {
		layer, err := openLayer(path)
		if err != nil {
			return nil, fmt.Errorf("reading the layer %s: %w", path, err)
		}
		if result, err = mutate.AppendLayers(result, layer); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// tarLayer is a tar file as a layer that stays as it is; the library's own kind
// of layer would compress it.
type tarLayer struct {
	path string
	hash v1.Hash
	size int64
}

func openLayer(path string) (tarLayer, error) {
	in, err := os.Open(path)
	if err != nil {
		return tarLayer{}, err
	}
	defer in.Close()
	hash, size, err := v1.SHA256(in)
	return tarLayer{path, hash, size}, err
}

func (l tarLayer) Digest() (v1.Hash, error)             { return l.hash, nil }
func (l tarLayer) DiffID() (v1.Hash, error)             { return l.hash, nil }
func (l tarLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.path) }
func (l tarLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.path) }
func (l tarLayer) Size() (int64, error)                 { return l.size, nil }
func (l tarLayer) MediaType() (types.MediaType, error)  { return types.DockerUncompressedLayer, nil }
