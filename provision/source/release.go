package source

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"gsb.test/jobset-e2e/provision/manifest"
)

// Release is this checkout's source build in the form of a release: a node image with
// nothing but Kubernetes in it, the images of JobSet, Kueue and the steps, and the
// manifests as rendered, not resized for one node. The registry mode is tested with it
// where no registry answers.
type Release struct {
	// Layout is an OCI image layout; RefName annotates each image with its name.
	Layout string
	// Node is the node image's name, with its tag.
	Node string
	// JobSet and Kueue are versions; the manifests are files.
	JobSet, Kueue                 string
	JobSetManifest, KueueManifest string
}

// RefName is the annotation by which an OCI layout names an image.
const RefName = "org.opencontainers.image.ref.name"

// Release returns the release of this checkout, building what is not cached yet.
func (b Builder) Release(ctx context.Context) (Release, []BuildTime, error) {
	p, err := b.plan()
	if err != nil {
		return Release{}, nil, err
	}
	dir, spent, err := b.assemble(ctx, "release", (*node).release)
	return p.releaseIn(dir), spent, err
}

func (p plan) releaseIn(dir string) Release {
	return Release{
		Layout: filepath.Join(dir, "oci"), Node: "docker.io/kindest/node:" + p.kubernetes,
		JobSet: p.jobSet, JobSetManifest: filepath.Join(dir, "jobset.yaml"),
		Kueue: p.kueue, KueueManifest: filepath.Join(dir, "kueue.yaml"),
	}
}

// defaultNetwork is in the place of kindnet in kind's node image: the pod network of
// this one is a file in it, and kind must have something to apply.
const defaultNetwork = `apiVersion: v1
kind: ConfigMap
metadata: {name: default-network, namespace: kube-system}
data: {is: a static file in the node image}
`

// release makes the entry.
func (n *node) release(ctx context.Context, dir string) error {
	r := n.releaseIn(dir)
	for _, controller := range []struct{ name, image, path string }{
		{"jobset", n.jobSetImage(), r.JobSetManifest},
		{"kueue", n.kueueImage(), r.KueueManifest},
	} {
		module, err := n.modules.download(ctx, "sigs.k8s.io/"+controller.name)
		if err != nil {
			return err
		}
		objects, err := released(controller.name, module, controller.image)
		if err != nil {
			return err
		}
		documents, err := manifest.Documents(objects)
		if err != nil {
			return err
		}
		if err := os.WriteFile(controller.path, documents, 0o644); err != nil {
			return err
		}
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	system, err := n.system(work)
	if err != nil {
		return err
	}
	images, err := n.lab(work)
	if err != nil {
		return err
	}
	bare, err := n.image(ctx, r.Node, work, system, file{Path: "kind/manifests/default-cni.yaml", Text: defaultNetwork, Mode: 0o644})
	if err != nil {
		return err
	}
	if err := writeLayout(r.Layout, work, append(images, bare)); err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// writeLayout writes images as registries keep them, with compressed layers; work is a
// folder for temporary files.
func writeLayout(dir, work string, containers []container) error {
	images, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	for _, c := range containers {
		image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
			OS: "linux", Architecture: runtime.GOARCH, Config: c.config, RootFS: v1.RootFS{Type: "layers"},
		})
		if err != nil {
			return err
		}
		for _, path := range c.layers {
			layer, err := compressedLayer(path, work)
			if err != nil {
				return err
			}
			if image, err = mutate.AppendLayers(image, layer); err != nil {
				return err
			}
		}
		if err := images.AppendImage(image, layout.WithAnnotations(map[string]string{RefName: c.ref})); err != nil {
			return err
		}
	}
	return nil
}

// compressedLayer compresses a tar file into work, unless that was done for
// another image already.
func compressedLayer(path, work string) (v1.Layer, error) {
	packed := filepath.Join(work, filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path)+".gz")
	if _, err := os.Stat(packed); errors.Is(err, os.ErrNotExist) {
		if err := compress(path, packed); err != nil {
			return nil, err
		}
	}
	return tarball.LayerFromFile(packed)
}

func compress(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(packed, in); err != nil {
		return err
	}
	return packed.Close()
}
