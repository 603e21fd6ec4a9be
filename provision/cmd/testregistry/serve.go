package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"

	labregistry "gsb.test/jobset-e2e/provision/registry"
	"gsb.test/jobset-e2e/provision/source"
)

// served are the registry, the download site, and the file for LAB_MIRROR.
type served struct {
	mirrors string
	server  *http.Server
	folder  string
}

// serve serves a release on the loopback address, at the paths of a mirror.
func serve(ctx context.Context, release source.Release) (_ *served, err error) {
	images, err := layout.FromPath(release.Layout)
	if err != nil {
		return nil, fmt.Errorf("reading the release: %w", err)
	}
	s := &served{}
	if s.folder, err = os.MkdirTemp("", "lab-testregistry-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	// The registry serves the layout's blobs, so that none is copied.
	mux.Handle("/v2/", registry.New(registry.Logger(log.New(io.Discard, "", 0)),
		registry.WithBlobHandler(registry.NewDiskBlobHandler(filepath.Join(release.Layout, "blobs")))))
	for address, file := range map[string]string{
		manifestAddress("jobset", release.JobSet): release.JobSetManifest,
		manifestAddress("kueue", release.Kueue):   release.KueueManifest,
	} {
		mux.HandleFunc(address, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	}
	s.server = &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = s.server.Serve(listener) }() // it ends by close
	address := "http://" + listener.Addr().String()
	digests, err := publish(ctx, images, listener.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("publishing the release: %w", err)
	}
	digest, ok := digests[release.Node]
	if !ok {
		return nil, fmt.Errorf("the release has no image %s, but %v", release.Node, digests)
	}
	s.mirrors = filepath.Join(s.folder, "mirrors.yaml")
	// The known digests of the real releases do not apply to these.
	for address, file := range map[string]string{manifestAddress("jobset", release.JobSet): release.JobSetManifest,
		manifestAddress("kueue", release.Kueue): release.KueueManifest} {
		manifest, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		digests["https:/"+address] = fmt.Sprintf("sha256:%x", sha256.Sum256(manifest))
	}
	content, err := yaml.Marshal(labregistry.Mirrors{Mirror: address, Node: release.Node + "@" + digest,
		Versions: labregistry.Versions{JobSet: release.JobSet, Kueue: release.Kueue}, Digests: digests})
	if err != nil {
		return nil, err
	}
	fmt.Printf(" ✓ test registry %d images and 2 manifests at %s, for registries and downloads\n", len(digests)-2, address)
	return s, os.WriteFile(s.mirrors, content, 0o644)
}

func (s *served) close() {
	if s.server != nil {
		_ = s.server.Close()
	}
	_ = os.RemoveAll(s.folder)
}

// manifestAddress is where a mirror has a release's manifests.
func manifestAddress(project, version string) string {
	return "/github.com/kubernetes-sigs/" + project + "/releases/download/" + version + "/manifests.yaml"
}

// publish pushes every image to the registry, below its original host's name, and
// returns the digests by name.
func publish(ctx context.Context, images layout.Path, registry string) (map[string]string, error) {
	index, err := images.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, descriptor := range manifest.Manifests {
		ref := descriptor.Annotations[source.RefName]
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			return nil, err
		}
		to, err := name.NewTag(registry + "/" + ref)
		if err != nil {
			return nil, err
		}
		if err := remote.Write(to, image, remote.WithContext(ctx)); err != nil {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("%s: %w", ref, err))
		}
		digests[ref] = descriptor.Digest.String()
	}
	return digests, nil
}
