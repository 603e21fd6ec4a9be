package registry

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/provision/images"
)

//go:embed digests.yaml
var digestsYAML []byte

// Digests are the known digests, sha256:…, by an image's full name or a manifest's
// address.
type Digests map[string]string

func parseDigests(content []byte) (Digests, error) {
	var list struct {
		Digests Digests `json:"digests"`
	}
	err := yaml.UnmarshalStrict(content, &list)
	if err == nil {
		err = list.Digests.check()
	}
	if err != nil {
		return nil, fmt.Errorf("provision/registry/digests.yaml: %w", err)
	}
	if list.Digests == nil {
		list.Digests = Digests{}
	}
	return list.Digests, nil
}

func (d Digests) check() error {
	for what, digest := range d {
		if _, err := v1.NewHash(digest); err != nil {
			return fmt.Errorf("the digest of %s: %w", what, err)
		}
	}
	return nil
}

// contradict names the digest of a set that differs from the known one.
func (d Digests) contradict(set images.Set, dir string) error {
	for what, digest := range set.From {
		if known := d[what]; known != "" && known != digest {
			return fmt.Errorf("%s was pulled as %s, and is known as %s (provision/registry/digests.yaml, or LAB_MIRROR)\n   if that is right, remove what was pulled: rm -r %s", what, digest, known, dir)
		}
	}
	return nil
}

// Note adds the digests of a pulled set to the checkout's list and returns how many
// were new. Digests from a mirror are not noted: nobody can know whether they are
// those of the original host.
func (p Puller) Note(set images.Set, checkout string) (added int, err error) {
	if p.Mirrors.Mirror != "" || len(p.Mirrors.Hosts) > 0 {
		return 0, nil
	}
	path := filepath.Join(checkout, "provision", "registry", "digests.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("noting the digests: %w", err)
	}
	known, err := parseDigests(content)
	if err != nil {
		return 0, err
	}
	before := len(known)
	pulled := maps.Clone(set.From)
	maps.DeleteFunc(pulled, func(what, _ string) bool { return known[what] != "" })
	for what, digest := range pulled {
		if digest != "" {
			known[what] = digest
		}
	}
	if len(known) == before {
		return 0, nil
	}
	list, err := yaml.Marshal(map[string]Digests{"digests": known})
	if err != nil {
		return 0, err
	}
	head, _, _ := bytes.Cut(content, []byte("digests:")) // the comment above the list
	if err := os.WriteFile(path, append(head, list...), 0o644); err != nil {
		return 0, fmt.Errorf("noting the digests: %w", err)
	}
	return len(known) - before, nil
}
