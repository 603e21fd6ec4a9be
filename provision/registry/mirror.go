package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// Mirrors replace the hosts of images and manifests. On a mirror the original host is
// the first part of the path:
//
//	<mirror>/<original host>/<repository>   an image
//	<mirror>/<original host>/<path>         a download
//
// LAB_MIRROR is a mirror's address, or a file with the keys below.
type Mirrors struct {
	// Mirror is the mirror of every host; Hosts are mirrors of single ones.
	Mirror string            `json:"mirror"`
	Hosts  map[string]string `json:"mirrors"`
	// Node and Versions replace the pinned ones. A lab of them is another lab, and its
	// verdict says so.
	Node     string   `json:"node"`
	Versions Versions `json:"versions"`
	// Images are the managers' images, if a release's manifests name others than
	// provision/registry/sources.yaml: without a tag, or with one that is not the version.
	Images Images `json:"images"`
	// Digests take precedence over those of provision/registry/digests.yaml.
	Digests Digests `json:"digests"`
}

// Images are managers' images; an empty one is that of the sources.
type Images struct {
	JobSet string `json:"jobset"`
	Kueue  string `json:"kueue"`
}

// Versions are releases, with a leading v; an empty one is the lab's.
type Versions struct {
	JobSet string `json:"jobset"`
	Kueue  string `json:"kueue"`
}

// ReadMirrors reads the setting LAB_MIRROR: empty, an address, or a file's path.
func ReadMirrors(setting string) (Mirrors, error) {
	if setting == "" {
		return Mirrors{}, nil
	}
	if strings.Contains(setting, "://") {
		return Mirrors{Mirror: setting}, checkAddress("LAB_MIRROR", setting)
	}
	content, err := os.ReadFile(setting)
	if errors.Is(err, fs.ErrNotExist) {
		return Mirrors{}, fmt.Errorf("LAB_MIRROR is %q: neither an address, such as http://mirror.example:5000, nor a file that exists", setting)
	}
	if err != nil {
		return Mirrors{}, fmt.Errorf("reading LAB_MIRROR: %w", err)
	}
	m, err := parseMirrors(content)
	if err != nil {
		return Mirrors{}, fmt.Errorf("LAB_MIRROR %s: %w", setting, err)
	}
	return m, nil
}

func parseMirrors(content []byte) (Mirrors, error) {
	var whole map[string]any
	if err := yaml.Unmarshal(content, &whole); err != nil {
		return Mirrors{}, fmt.Errorf("it is not YAML: %w", err)
	}
	if err := knownKeys("", whole, "mirror", "mirrors", "node", "versions", "images", "digests"); err != nil {
		return Mirrors{}, err
	}
	for _, key := range []string{"versions", "images"} {
		if releases, ok := whole[key].(map[string]any); ok {
			if err := knownKeys(key+".", releases, "jobset", "kueue"); err != nil {
				return Mirrors{}, err
			}
		}
	}
	var m Mirrors
	if err := yaml.UnmarshalStrict(content, &m); err != nil {
		return Mirrors{}, err
	}
	if m.Mirror != "" {
		if err := checkAddress("mirror", m.Mirror); err != nil {
			return Mirrors{}, err
		}
	}
	for _, host := range slices.Sorted(maps.Keys(m.Hosts)) {
		if err := checkAddress("mirrors."+host, m.Hosts[host]); err != nil {
			return Mirrors{}, err
		}
	}
	if m.Node != "" {
		if _, err := kubernetesOf(m.Node); err != nil {
			return Mirrors{}, err
		}
	}
	for key, version := range map[string]string{"jobset": m.Versions.JobSet, "kueue": m.Versions.Kueue} {
		if version != "" && semver.Canonical(version) != version {
			return Mirrors{}, fmt.Errorf("versions.%s is %q, not a full version such as v0.13.0", key, version)
		}
	}
	for key, image := range map[string]string{"jobset": m.Images.JobSet, "kueue": m.Images.Kueue} {
		host, _, full := strings.Cut(image, "/")
		if _, err := name.ParseReference(image); image != "" && (err != nil || !full || !strings.ContainsAny(host, ".:")) {
			return Mirrors{}, fmt.Errorf("images.%s is %q, not a full image name such as registry.k8s.io/jobset/jobset", key, image)
		}
	}
	return m, m.Digests.check()
}

func knownKeys(prefix string, found map[string]any, known ...string) error {
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("there is no key %s%s; there are: %s", prefix, key, strings.Join(known, ", "))
		}
	}
	return nil
}

func checkAddress(what, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		if parsed != nil {
			address = parsed.Redacted()
		}
		return fmt.Errorf("%s is %q, not an address such as http://mirror.example:5000/prefix (credentials come from the Docker configuration: docker login)", what, address)
	}
	return nil
}

// of returns the mirror of a host; false if it has none.
func (m Mirrors) of(host string) (string, bool) {
	address := m.Hosts[host]
	if address == "" {
		address = m.Mirror
	}
	return strings.TrimSuffix(address, "/"), address != ""
}

// image returns the address of an image.
func (m Mirrors) image(ref string) (name.Reference, error) {
	original, err := name.ParseReference(ref)
	if err != nil {
		return nil, fmt.Errorf("the image name %s: %w", ref, err)
	}
	address, mirrored := m.of(hostOf(original))
	if !mirrored {
		return original, nil
	}
	place, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the mirror of %s: %w", hostOf(original), err)
	}
	var options []name.Option
	if place.Scheme == "http" {
		options = append(options, name.Insecure)
	}
	// Not by parsing the whole name: a host without a dot would be taken for a repository
	// of docker.io.
	registry, err := name.NewRegistry(place.Host, options...)
	if err != nil {
		return nil, fmt.Errorf("the mirror of %s: %w", hostOf(original), err)
	}
	repository := registry.Repo(strings.TrimPrefix(place.Path, "/"), hostOf(original), original.Context().RepositoryStr())
	if _, ok := original.(name.Digest); ok {
		return repository.Digest(original.Identifier()), nil
	}
	return repository.Tag(original.Identifier()), nil
}

// plain reports whether a host may be used without TLS: only a mirror whose setting
// says so.
func (m Mirrors) plain(registry string) bool {
	for _, address := range append(slices.Collect(maps.Values(m.Hosts)), m.Mirror) {
		if place, err := url.Parse(address); err == nil && place.Scheme == "http" && place.Host == registry {
			return true
		}
	}
	return false
}

// download returns the address of a file.
func (m Mirrors) download(address string) string {
	_, path, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(path, "/")
	if mirror, mirrored := m.of(host); mirrored {
		return mirror + "/" + path
	}
	return address
}

// hostOf is the host of an image name.
func hostOf(ref name.Reference) string {
	if host := ref.Context().RegistryStr(); host != name.DefaultRegistry {
		return host
	}
	return "docker.io"
}
