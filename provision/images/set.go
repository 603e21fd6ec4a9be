// Package images describes the image set of a lab, built from source (package source)
// or pulled from registries (package registry). It keeps finished sets in the cache
// and writes them to archives for other machines.
package images

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gsb.test/jobset-e2e/fixtures"
)

// Mode is where a set comes from, as in LAB_IMAGES.
type Mode string

// The two modes.
const (
	Registry Mode = "registry"
	Source   Mode = "source"
)

// Origin is the mode in words.
func (m Mode) Origin() string {
	return map[Mode]string{Registry: "registries", Source: "source build"}[m]
}

// Set is one image set: everything a lab needs to come up, on this machine's
// disk before the node is started, so that no later step waits for a network.
// In the cache it is a folder without subfolders; paths are within that folder.
type Set struct {
	Mode Mode `json:"mode"`
	// Inputs is the key of the set's inputs. It is the same on every machine with this
	// checkout.
	Inputs string `json:"inputs"`
	// Architecture is the machine's that the set runs on, in Go's words: amd64.
	Architecture string `json:"architecture"`
	// Node is the reference that the container engine knows the node image by.
	Node string `json:"node"`
	// Archive is the file the node image is loaded from when the engine lacks it.
	Archive string `json:"archive"`
	// Images is the archive of images to load into the running node, and Contents lists
	// them; both are empty if the node image has everything.
	Images   string  `json:"images,omitempty"`
	Contents []Image `json:"contents,omitempty"`
	// OwnNetwork: the node image has a pod network, so kind's default one is left out.
	OwnNetwork bool `json:"ownNetwork,omitempty"`
	// Kubernetes, JobSet and Kueue are the versions inside, with a leading v.
	Kubernetes string `json:"kubernetes"`
	JobSet     string `json:"jobset"`
	Kueue      string `json:"kueue"`
	// JobSetManifest, KueueManifest and GPUManifest are files of YAML documents that
	// name only images of the set.
	JobSetManifest string `json:"jobsetManifest"`
	KueueManifest  string `json:"kueueManifest"`
	GPUManifest    string `json:"gpuManifest"`
	// From are the digests of pulled parts by their names.
	From map[string]string `json:"from,omitempty"`
}

// Versions are the releases in the set.
func (s Set) Versions() fixtures.Versions {
	return fixtures.Versions{Kubernetes: s.Kubernetes, JobSet: s.JobSet, Kueue: s.Kueue}
}

// Image is one image as containerd in the node knows it.
type Image struct {
	// Ref is the fully qualified name, Digest the manifest's, such as sha256:…
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
}

// setFile holds the Set in its folder.
const setFile = "set.json"

// Write writes the set's description into its folder.
func (s Set) Write(dir string) error {
	for _, path := range s.paths() {
		if *path != "" {
			*path = filepath.Base(*path)
		}
	}
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, setFile), append(content, '\n'), 0o644)
}

// Read reads the set in a folder and checks that its files are there.
func Read(dir string) (Set, error) {
	content, err := os.ReadFile(filepath.Join(dir, setFile))
	if err != nil {
		return Set{}, fmt.Errorf("reading the image set: %w", err)
	}
	s, err := parse(content)
	if err != nil {
		return Set{}, fmt.Errorf("the image set in %s: %w\n   delete that folder and run again", dir, err)
	}
	for _, path := range s.paths() {
		if *path == "" {
			continue
		}
		*path = filepath.Join(dir, filepath.Base(*path))
		if _, err := os.Stat(*path); err != nil {
			return Set{}, fmt.Errorf("a part of the image set is gone: %w\n   delete %s and run again", err, dir)
		}
	}
	return s, nil
}

func parse(content []byte) (Set, error) {
	var s Set
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return Set{}, fmt.Errorf("%s: %w", setFile, err)
	}
	if s.Mode.Origin() == "" || len(s.Inputs) != len(KeyOf().sum) || s.Node == "" || s.Archive == "" {
		return Set{}, fmt.Errorf("%s is not the description of an image set", setFile)
	}
	return s, nil
}

func (s *Set) paths() []*string {
	return []*string{&s.Archive, &s.Images, &s.JobSetManifest, &s.KueueManifest, &s.GPUManifest}
}

// Loaded returns the set of a mode that was loaded from an archive, for those
// inputs; false if none was.
func (c Cache) Loaded(ctx context.Context, mode Mode, inputs Key) (Set, bool, error) {
	dir, whole := c.Find(ctx, loadedName(mode), inputs)
	if !whole {
		return Set{}, false, nil
	}
	set, err := Read(dir)
	return set, err == nil, err
}

// How says how a finished set came to this machine.
func (s Set) How() string {
	if strings.HasPrefix(filepath.Base(filepath.Dir(s.Archive)), loadedName(s.Mode)) {
		return "from a loaded archive"
	}
	return "from the cache"
}

func loadedName(mode Mode) string { return "loaded-" + string(mode) }
