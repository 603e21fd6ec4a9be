package registry

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/mod/semver"
	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/fixtures"
)

//go:embed sources.yaml
var sourcesYAML []byte

// Release is one controller's release.
type Release struct {
	// Version is the release's, with a leading v.
	Version string `json:"-"`
	// Manifest is the address of its manifests, Image the manager's image without a tag.
	Manifest string `json:"manifest"`
	Image    string `json:"image"`
}

// Sources are what a set is made from, by the names that everybody uses, whatever
// mirror they are fetched through.
type Sources struct {
	// Node is the node image with tag and digest, Steps the image that the steps run.
	Node   string            `json:"-"`
	Steps  string            `json:"-"`
	JobSet Release           `json:"jobset"`
	Kueue  Release           `json:"kueue"`
	Digest map[string]string `json:"digests"`
}

// ReadSources returns what the lab is made from, with what the mirror file says otherwise.
func ReadSources(mirrors Mirrors) (Sources, error) {
	pins, err := fixtures.ReadPins()
	if err != nil {
		return Sources{}, err
	}
	return parseSources(sourcesYAML, pins, mirrors)
}

func parseSources(content []byte, pins fixtures.Pins, mirrors Mirrors) (Sources, error) {
	var s Sources
	if err := yaml.UnmarshalStrict(content, &s); err != nil {
		return Sources{}, fmt.Errorf("provision/registry/sources.yaml cannot be read: %w", err)
	}
	s.Node, s.Steps = defaults.Image, pins.Image
	if mirrors.Node != "" {
		s.Node = mirrors.Node
	}
	s.JobSet.Version, s.Kueue.Version = pins.JobSet, pins.Kueue
	if mirrors.Versions.JobSet != "" {
		s.JobSet.Version = mirrors.Versions.JobSet
	}
	if mirrors.Versions.Kueue != "" {
		s.Kueue.Version = mirrors.Versions.Kueue
	}
	for _, r := range []*Release{&s.JobSet, &s.Kueue} {
		r.Manifest = strings.ReplaceAll(r.Manifest, "VERSION", r.Version)
		if !strings.HasPrefix(r.Manifest, "https://") || r.Image == "" {
			return Sources{}, fmt.Errorf("provision/registry/sources.yaml: a release needs manifest, an https address, and image; found %q and %q", r.Manifest, r.Image)
		}
	}
	for what, digest := range s.Digest {
		if _, err := v1.NewHash(digest); err != nil {
			return Sources{}, fmt.Errorf("provision/registry/sources.yaml: the digest of %s: %w", what, err)
		}
	}
	if _, err := kubernetesOf(s.Node); err != nil {
		return Sources{}, err
	}
	return s, nil
}

// kubernetesOf is the version of Kubernetes that a node image's tag tells.
func kubernetesOf(node string) (string, error) {
	tagged, digest, _ := strings.Cut(node, "@")
	_, tag, _ := strings.Cut(tagged[strings.LastIndex(tagged, "/")+1:], ":")
	if _, err := name.NewDigest("any@" + digest); err != nil || !semver.IsValid(tag) {
		return "", fmt.Errorf("the node image %q has not both the tag and the digest that are needed: name:v1.37.0@sha256:…", node)
	}
	return tag, nil
}
