package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
)

// node puts the parts together into the image that kind starts, with the images
// of everything the lab runs inside it.
type node struct {
	checkout string
	modules  module
	parts    parts
	pins     fixtures.Pins
	key      key

	kind                      string // version of the kind library
	kubernetes, jobSet, kueue string // versions
	gpuManifest, gpuImage     string
}

func newNode(checkout string, modules module, p parts, pins fixtures.Pins) (*node, error) {
	n := &node{checkout: checkout, modules: modules, parts: p, pins: pins}
	suite, err := openModule(checkout)
	if err != nil {
		return nil, err
	}
	for _, pin := range []struct {
		from module
		path string
		to   *string
	}{
		{suite, "sigs.k8s.io/kind", &n.kind},
		{modules, "k8s.io/kubernetes", &n.kubernetes},
		{modules, "sigs.k8s.io/jobset", &n.jobSet},
		{modules, "sigs.k8s.io/kueue", &n.kueue},
	} {
		if *pin.to, err = pin.from.version(pin.path); err != nil {
			return nil, err
		}
	}
	manifest, err := os.ReadFile(filepath.Join(checkout, "provision", "fakegpu", "daemonset.yaml"))
	if err != nil {
		return nil, err
	}
	var plugin appsv1.DaemonSet
	if err := yaml.Unmarshal(manifest, &plugin); err != nil || len(plugin.Spec.Template.Spec.Containers) != 1 {
		return nil, fmt.Errorf("provision/fakegpu/daemonset.yaml is not a DaemonSet of one container: %w", err)
	}
	n.gpuManifest, n.gpuImage = string(manifest), plugin.Spec.Template.Spec.Containers[0].Image
	return n, nil
}

// set tells what the entry in dir holds.
func (n *node) set(dir string) images.Set {
	return images.Set{
		Origin:         "source build",
		Node:           "localhost/lab-node:" + n.key.sum[:16], // a changed node is another name
		Archive:        filepath.Join(dir, "node.tar"),
		Kubernetes:     n.kubernetes,
		JobSet:         n.jobSet,
		Kueue:          n.kueue,
		JobSetManifest: filepath.Join(dir, "jobset.yaml"),
		KueueManifest:  filepath.Join(dir, "kueue.yaml"),
		GPUManifest:    filepath.Join(dir, "fake-gpu.yaml"),
		Sealed:         true,
	}
}

// fill makes the entry: the node's archive and the manifests.
func (n *node) fill(ctx context.Context, dir string) error {
	set := n.set(dir)
	jobSetImage := "registry.k8s.io/jobset/jobset:" + n.jobSet
	kueueImage := "registry.k8s.io/kueue/kueue:" + n.kueue
	if err := n.manifests(ctx, set, jobSetImage, kueueImage); err != nil {
		return err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	inside, err := n.containers(work, jobSetImage, kueueImage)
	if err != nil {
		return err
	}
	archive := filepath.Join(work, "images.tar")
	if err := saveArchive(archive, inside...); err != nil {
		return err
	}
	store := filepath.Join(work, "containerd")
	if err := importImages(ctx, n.parts, store, archive); err != nil {
		return err
	}
	stored, err := tree(store, "var/lib/containerd")
	if err != nil {
		return err
	}
	storeLayer := filepath.Join(work, "store.tar")
	if err := writeLayer(storeLayer, stored); err != nil {
		return err
	}
	kindModule, err := module{dir: n.checkout}.download(ctx, "sigs.k8s.io/kind")
	if err != nil {
		return err
	}
	files, err := nodeFiles(ctx, n.parts, kindModule, n.kubernetes)
	if err != nil {
		return err
	}
	filesLayer := filepath.Join(work, "files.tar")
	if err := writeLayer(filesLayer, files); err != nil {
		return err
	}
	if err := saveArchive(set.Archive, container{
		ref: set.Node,
		config: v1.Config{
			Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
			Env:        []string{"container=docker", searchPath},
			StopSignal: "SIGRTMIN+3", // systemd's word for an orderly stop
		},
		layers: []string{filepath.Join(n.parts.debian, "root.tar"), filesLayer, storeLayer},
	}); err != nil {
		return err
	}
	return os.RemoveAll(work)
}

// manifests writes what installs JobSet, Kueue and the device plugin.
func (n *node) manifests(ctx context.Context, set images.Set, jobSetImage, kueueImage string) error {
	for _, controller := range []struct {
		module, image, path string
		render              func(moduleDir, image string) ([]byte, error)
	}{
		{"sigs.k8s.io/jobset", jobSetImage, set.JobSetManifest, RenderJobSet},
		{"sigs.k8s.io/kueue", kueueImage, set.KueueManifest, RenderKueue},
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
	return os.WriteFile(set.GPUManifest, []byte(n.gpuManifest), 0o644)
}
