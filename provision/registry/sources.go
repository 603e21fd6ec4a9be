package registry

import (
	_ "embed"
	"fmt"
	"maps"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
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
	// Manifest is the address of its manifests, Image the manager's image. Without a
	// tag of its own its tag is the version.
	Manifest string `json:"manifest"`
	Image    string `json:"image"`
	// Also are other images that the manifests may name.
	Also []string `json:"also"`
}

// manager is the manager's image with its tag.
func (r Release) manager() string {
	if strings.Contains(r.Image[strings.LastIndex(r.Image, "/")+1:], ":") {
		return r.Image
	}
	return r.Image + ":" + r.Version
}

// Sources are what a set is made from, by the original names.
type Sources struct {
	// Node is the node image with tag and digest, Steps the image that the steps run.
	Node   string  `json:"-"`
	Steps  string  `json:"-"`
	JobSet Release `json:"jobset"`
	Kueue  Release `json:"kueue"`
	// Digest are the known digests of these names.
	Digest Digests `json:"-"`
}

// ReadSources returns what a lab of these pins is made from, as changed by the mirror file.
func ReadSources(pins fixtures.Pins, mirrors Mirrors) (Sources, error) {
	known, err := parseDigests(digestsYAML)
	if err != nil {
		return Sources{}, err
	}
	return parseSources(sourcesYAML, known, pins, mirrors)
}

func parseSources(content []byte, known Digests, pins fixtures.Pins, mirrors Mirrors) (Sources, error) {
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
	for _, image := range []struct {
		named string
		to    *Release
	}{{mirrors.Images.JobSet, &s.JobSet}, {mirrors.Images.Kueue, &s.Kueue}} {
		if image.named != "" {
			image.to.Image = image.named
		}
	}
	for _, r := range []*Release{&s.JobSet, &s.Kueue} {
		r.Manifest = strings.ReplaceAll(r.Manifest, "VERSION", r.Version)
		if !strings.HasPrefix(r.Manifest, "https://") || r.Image == "" {
			return Sources{}, fmt.Errorf("provision/registry/sources.yaml: a release needs manifest, an https address, and image; found %q and %q", r.Manifest, r.Image)
		}
	}
	s.Digest = maps.Clone(known)
	maps.Copy(s.Digest, mirrors.Digests)
	if _, err := kubernetesOf(s.Node); err != nil {
		return Sources{}, err
	}
	return s, nil
}

// kubernetesOf is the Kubernetes version in the tag of a node image.
func kubernetesOf(node string) (string, error) {
	tagged, digest, _ := strings.Cut(node, "@")
	_, tag, _ := strings.Cut(tagged[strings.LastIndex(tagged, "/")+1:], ":")
	if _, err := name.NewDigest("any@" + digest); err != nil || !semver.IsValid(tag) {
		return "", fmt.Errorf("the node image %q has not both the tag and the digest that are needed: name:v1.37.0@sha256:…", node)
	}
	return tag, nil
}
