package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/provision/images"
)

// fakeGPU is the device plugin of a checkout. It is this project's own program, so it
// is always built here.
type fakeGPU struct {
	inputs []string
	// Manifest is its DaemonSet, Ref the image named there.
	Manifest, Ref string
}

func readFakeGPU(checkout string) (fakeGPU, error) {
	folder := filepath.Join(checkout, "provision", "fakegpu")
	inputs, err := images.FilesIn(folder, func(path string) bool {
		return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
	})
	if err != nil {
		return fakeGPU{}, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			return fakeGPU{}, err
		}
		inputs = append(inputs, string(content))
	}
	manifest, err := os.ReadFile(filepath.Join(folder, "daemonset.yaml"))
	if err != nil {
		return fakeGPU{}, err
	}
	var plugin appsv1.DaemonSet
	if err := yaml.Unmarshal(manifest, &plugin); err != nil {
		return fakeGPU{}, fmt.Errorf("provision/fakegpu/daemonset.yaml: %w", err)
	}
	if containers := plugin.Spec.Template.Spec.Containers; len(containers) == 1 {
		return fakeGPU{inputs, string(manifest), containers[0].Image}, nil
	}
	return fakeGPU{}, fmt.Errorf("provision/fakegpu/daemonset.yaml is not a DaemonSet of one container")
}

// FakeGPU is the device plugin: its image, its name there and its manifest.
type FakeGPU struct {
	fakeGPU
	program string
}

// FakeGPUKey is the key of the device plugin and its manifest, without a compiler.
func (b Builder) FakeGPUKey() (images.Key, error) {
	gpu, err := readFakeGPU(b.Checkout)
	return images.KeyOf(partKey(gpu.inputs, "").String(), gpu.Manifest), err
}

// FakeGPU builds the device plugin if it is not cached, and returns it and how
// long that took. It needs Go and the Go module proxy, but neither root nor Debian.
func (b Builder) FakeGPU(ctx context.Context) (FakeGPU, time.Duration, error) {
	gpu, err := readFakeGPU(b.Checkout)
	if err != nil {
		return FakeGPU{}, 0, err
	}
	compiler, err := toolchain(ctx)
	if err != nil {
		return FakeGPU{}, 0, err
	}
	dir, took, err := b.Cache.Entry(ctx, "fake-gpu", partKey(gpu.inputs, compiler), b.Say, b.buildFakeGPU, partFiles["fake-gpu"]...)
	return FakeGPU{gpu, filepath.Join(dir, "fake-gpu")}, took, err
}

func (b Builder) buildFakeGPU(ctx context.Context, dir string) error {
	// For this machine's architecture, whatever GOARCH in the environment is.
	env := append(slices.Clone(goEnv), "GOARCH="+runtime.GOARCH)
	return run(ctx, b.Checkout, env, "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, "fake-gpu"), "./provision/fakegpu")
}

// Image returns the device plugin's image for this machine; its layer is written into work.
func (g FakeGPU) Image(work string) (v1.Image, error) {
	container, err := gpuContainer(g.Ref, g.program, work)
	if err != nil {
		return nil, err
	}
	return image(container.config, runtime.GOARCH, container.layers...)
}

func gpuContainer(ref, program, work string) (container, error) {
	layer := filepath.Join(work, "fake-gpu.tar")
	err := writeLayer(layer, []file{{Path: "fake-gpu", From: program, Mode: 0o755}})
	return container{ref, v1.Config{Entrypoint: []string{"/fake-gpu"}, Env: []string{searchPath}}, []string{layer}}, err
}
