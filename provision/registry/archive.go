package registry

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"gsb.test/jobset-e2e/provision/images"
)

// named is an image with its name in the node.
type named struct {
	ref   string
	image v1.Image
}

// containerdName is the annotation by which containerd names an image it imports.
const containerdName = "io.containerd.image.name"

// writeArchive writes images as an OCI layout in one tar file and returns each with
// its digest. Unlike in docker save's format, manifests stay unchanged, so that the
// node knows an image by the digest of its registry.
func writeArchive(path string, all []named) (contents []images.Image, err error) {
	out, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	l := &layoutTar{tar: tar.NewWriter(out), has: map[v1.Hash]bool{}}
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	for _, n := range all {
		descriptor, err := l.add(n.image)
		if err != nil {
			return nil, err
		}
		descriptor.Annotations = map[string]string{containerdName: n.ref}
		index.Manifests = append(index.Manifests, *descriptor)
		contents = append(contents, images.Image{Ref: n.ref, Digest: descriptor.Digest.String()})
	}
	text, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	if err := l.file("index.json", text); err != nil {
		return nil, err
	}
	if err := l.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return nil, err
	}
	return contents, l.tar.Close()
}

// layoutTar is an OCI layout being written; has lists its blobs.
type layoutTar struct {
	tar *tar.Writer
	has map[v1.Hash]bool
}

func (l *layoutTar) add(image v1.Image) (*v1.Descriptor, error) {
	layers, err := image.Layers()
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		if err := l.layer(layer); err != nil {
			return nil, err
		}
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return nil, err
	}
	configName, err := image.ConfigName()
	if err != nil {
		return nil, err
	}
	if err := l.blob(configName, config); err != nil {
		return nil, err
	}
	manifest, err := image.RawManifest()
	if err != nil {
		return nil, err
	}
	descriptor, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	return descriptor, l.blob(descriptor.Digest, manifest)
}

func (l *layoutTar) layer(layer v1.Layer) error {
	digest, err := layer.Digest()
	if err != nil || l.has[digest] {
		return err
	}
	size, err := layer.Size()
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer content.Close()
	l.has[digest] = true
	if err := l.tar.WriteHeader(&tar.Header{Name: blobPath(digest), Mode: 0o644, Size: size}); err != nil {
		return err
	}
	_, err = io.Copy(l.tar, content)
	return err
}

func (l *layoutTar) blob(digest v1.Hash, content []byte) error {
	if l.has[digest] {
		return nil
	}
	l.has[digest] = true
	return l.file(blobPath(digest), content)
}

func (l *layoutTar) file(name string, content []byte) error {
	if err := l.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := l.tar.Write(content)
	return err
}

func blobPath(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }
