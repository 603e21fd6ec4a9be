package source

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"gsb.test/jobset-e2e/provision/images"
)

// node puts the parts together into the image that kind starts, with the images
// of everything the lab runs inside it.
type node struct {
	plan
	parts parts
	key   images.Key
}

// set describes the entry in dir.
func (n *node) set(dir string) images.Set {
	return images.Set{
		Mode:           images.Source,
		Inputs:         n.whole("").String(),
		Architecture:   runtime.GOARCH,
		Node:           "localhost/lab-node:" + n.key.Short(), // a changed node is another name
		Archive:        filepath.Join(dir, "node.tar"),
		Kubernetes:     n.kubernetes,
		JobSet:         n.jobSet,
		Kueue:          n.kueue,
		JobSetManifest: filepath.Join(dir, "jobset.yaml"),
		KueueManifest:  filepath.Join(dir, "kueue.yaml"),
		GPUManifest:    filepath.Join(dir, "fake-gpu.yaml"),
		OwnNetwork:     true,
	}
}

// fill makes the entry: the node's archive and the manifests.
func (n *node) fill(ctx context.Context, dir string) error {
	set := n.set(dir)
	if err := n.manifests(ctx, set); err != nil {
		return err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	system, err := n.system(work)
	if err != nil {
		return err
	}
	lab, err := n.lab(work)
	if err != nil {
		return err
	}
	gpu, err := gpuContainer(n.gpu.Ref, filepath.Join(n.parts.gpu, "fake-gpu"), work)
	if err != nil {
		return err
	}
	bare, err := n.image(ctx, set.Node, work, append(append(system, lab...), gpu))
	if err != nil {
		return err
	}
	if err := saveArchive(set.Archive, bare); err != nil {
		return err
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return set.Write(dir)
}

// image is the image that kind starts, with images inside it. Its layers are
// written into work, except those that are parts already.
func (n *node) image(ctx context.Context, ref, work string, inside []container, extra ...file) (container, error) {
	archive := filepath.Join(work, "images.tar")
	if err := saveArchive(archive, inside...); err != nil {
		return container{}, err
	}
	store := filepath.Join(work, "containerd")
	if err := importImages(ctx, n.parts, store, archive); err != nil {
		return container{}, err
	}
	stored, err := tree(store, "var/lib/containerd")
	if err != nil {
		return container{}, err
	}
	storeLayer := filepath.Join(work, "store.tar")
	if err := writeLayer(storeLayer, stored); err != nil {
		return container{}, err
	}
	kindModule, err := module{dir: n.checkout}.download(ctx, "sigs.k8s.io/kind")
	if err != nil {
		return container{}, err
	}
	files, err := nodeFiles(ctx, n.parts, kindModule, n.kubernetes)
	if err != nil {
		return container{}, err
	}
	filesLayer := filepath.Join(work, "files.tar")
	if err := writeLayer(filesLayer, append(files, extra...)); err != nil {
		return container{}, err
	}
	return container{
		ref: ref,
		config: v1.Config{
			Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
			Env:        []string{"container=docker", searchPath},
			StopSignal: "SIGRTMIN+3", // systemd's word for an orderly stop
		},
		layers: []string{filepath.Join(n.parts.debian, "root.tar"), filesLayer, storeLayer},
	}, nil
}

// The managers' images, by the names of their releases.
func (n *node) jobSetImage() string { return "registry.k8s.io/jobset/jobset:" + n.jobSet }
func (n *node) kueueImage() string  { return "registry.k8s.io/kueue/kueue:" + n.kueue }

// manifests writes what installs JobSet, Kueue and the device plugin.
func (n *node) manifests(ctx context.Context, set images.Set) error {
	for _, controller := range []struct {
		module, image, path string
		render              func(moduleDir, image string) ([]byte, error)
	}{
		{"sigs.k8s.io/jobset", n.jobSetImage(), set.JobSetManifest, RenderJobSet},
		{"sigs.k8s.io/kueue", n.kueueImage(), set.KueueManifest, RenderKueue},
	} {
		dir, err := n.modules.download(ctx, controller.module)
		if err != nil {
			return err
		}
		manifest, err := controller.render(dir, controller.image)
		if err != nil {
			return err
		}
		if err := os.WriteFile(controller.path, manifest, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(set.GPUManifest, []byte(n.gpu.Manifest), 0o644)
}
