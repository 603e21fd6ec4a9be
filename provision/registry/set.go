package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/source"
)

// recipe is part of every key: raise it when the code here makes something else
// of the same sources.
const recipe = "2"

// entry is the cache entry of a finished set.
const entry = "registry"

// Puller pulls image sets.
type Puller struct {
	Cache   images.Cache
	Mirrors Mirrors
	Sources Sources
	// Builder builds the device plugin.
	Builder source.Builder
	// Say is called often with what is being done.
	Say func(string)
}

// Client is the puller's client.
func (p Puller) Client() *Client {
	return NewClient(p.Mirrors, filepath.Join(p.Cache.Dir, "pulled"), p.Say)
}

// Inputs is the key of a set of these sources. A mirror is no input: its content is
// that of the original host.
func (p Puller) Inputs() (images.Key, error) {
	gpu, err := p.Builder.FakeGPUKey()
	if err != nil {
		return images.Key{}, err
	}
	s := p.Sources
	inputs := []string{s.Node, s.Steps, s.JobSet.Manifest, s.JobSet.Image, s.Kueue.Manifest, s.Kueue.Image,
		gpu.String(), runtime.GOARCH, recipe}
	// Known digests are no input but are compared separately: the list grows.
	return images.KeyOf(append(append(inputs, s.JobSet.Also...), s.Kueue.Also...)...), nil
}

// Cached returns the set if it is finished or was loaded from an archive, without a
// request.
func (p Puller) Cached(ctx context.Context) (images.Set, bool, error) {
	key, err := p.Inputs()
	if err != nil {
		return images.Set{}, false, err
	}
	if set, found, err := p.Cache.Loaded(ctx, images.Registry, key); found || err != nil {
		return set, found, err
	}
	dir, whole := p.Cache.Find(ctx, entry, key)
	if !whole {
		return images.Set{}, false, nil
	}
	set, err := images.Read(dir)
	if err == nil {
		err = p.Sources.Digest.contradict(set, dir)
	}
	return set, err == nil, err
}

// Pull returns the set and how long it took, zero for a finished set. It pulls and
// builds what is not cached.
func (p Puller) Pull(ctx context.Context) (images.Set, time.Duration, error) {
	if set, found, err := p.Cached(ctx); found || err != nil {
		return set, 0, err
	}
	key, err := p.Inputs()
	if err != nil {
		return images.Set{}, 0, err
	}
	dir, took, err := p.Cache.Entry(ctx, entry, key, p.Say, func(ctx context.Context, dir string) error {
		return p.fill(ctx, key, dir)
	})
	if err != nil {
		return images.Set{}, 0, err
	}
	set, err := images.Read(dir)
	return set, took, err
}

// fill makes the entry.
func (p Puller) fill(ctx context.Context, key images.Key, dir string) error {
	client := p.Client()
	// Pulled parts are kept next to the entry, so that an interrupted pull continues.
	release, err := p.Cache.Lock(ctx, filepath.Base(client.folder), func() { p.Say("waiting for another run to pull images") })
	if err != nil {
		return err
	}
	defer release()
	if err := os.MkdirAll(client.folder, 0o755); err != nil {
		return err
	}
	set, err := p.set(ctx, client, key, dir)
	if err != nil {
		return err
	}
	if err := set.Write(dir); err != nil {
		return err
	}
	return os.RemoveAll(client.folder) // the entry holds it all now
}

func (p Puller) set(ctx context.Context, client *Client, key images.Key, dir string) (images.Set, error) {
	s := p.Sources
	kubernetes, err := kubernetesOf(s.Node)
	if err != nil {
		return images.Set{}, err
	}
	set := images.Set{
		Mode: images.Registry, Inputs: key.String(), Architecture: runtime.GOARCH,
		Node: "localhost/lab-node:" + key.Short(), Archive: filepath.Join(dir, "node.tar"), Images: filepath.Join(dir, "images.tar"),
		Kubernetes: kubernetes, JobSet: s.JobSet.Version, Kueue: s.Kueue.Version,
		JobSetManifest: filepath.Join(dir, "jobset.yaml"), KueueManifest: filepath.Join(dir, "kueue.yaml"), GPUManifest: filepath.Join(dir, "fake-gpu.yaml"),
		From: map[string]string{},
	}
	// The small parts first: their errors are reported before the large ones are pulled.
	wanted := []string{s.Steps}
	for _, r := range []struct {
		release Release
		path    string
	}{{s.JobSet, set.JobSetManifest}, {s.Kueue, set.KueueManifest}} {
		p.Say("fetching " + r.release.Manifest)
		documents, named, sum, err := client.manifest(ctx, r.release, s.Digest[r.release.Manifest])
		if err != nil {
			return images.Set{}, err
		}
		if err := os.WriteFile(r.path, documents, 0o644); err != nil {
			return images.Set{}, err
		}
		set.From[r.release.Manifest] = sum
		for _, ref := range named {
			if !slices.Contains(wanted, ref) {
				wanted = append(wanted, ref)
			}
		}
	}
	var inside []named
	for _, ref := range wanted {
		image, err := client.Pull(ctx, ref, s.Digest[ref])
		if err != nil {
			return images.Set{}, err
		}
		inside = append(inside, named{ref, image})
	}
	if err := p.node(ctx, client, &set); err != nil {
		return images.Set{}, err
	}
	p.Say("building the device plugin")
	gpu, _, err := p.Builder.FakeGPU(ctx)
	if err != nil {
		return images.Set{}, err
	}
	image, err := gpu.Image(client.folder)
	if err != nil {
		return images.Set{}, fmt.Errorf("putting %s together: %w", gpu.Ref, err)
	}
	p.Say("writing the archive of the node's images")
	if set.Contents, err = writeArchive(set.Images, append(inside, named{gpu.Ref, image})); err != nil {
		return images.Set{}, err
	}
	for _, image := range set.Contents[:len(inside)] {
		set.From[image.Ref] = client.digests[image.Ref]
	}
	return set, os.WriteFile(set.GPUManifest, []byte(gpu.Manifest), 0o644)
}

// node pulls the node image and writes it under the name that the engine will know.
func (p Puller) node(ctx context.Context, client *Client, set *images.Set) error {
	image, err := client.Pull(ctx, p.Sources.Node, "")
	if err != nil {
		return err
	}
	tag, err := name.NewTag(set.Node)
	if err != nil {
		return err
	}
	p.Say("writing the archive of the node image")
	ref, digest, _ := strings.Cut(p.Sources.Node, "@")
	set.From[ref] = digest
	return tarball.WriteToFile(set.Archive, tag, image)
}
