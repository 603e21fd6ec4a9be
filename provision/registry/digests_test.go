package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
)

const staging = "us-central1-docker.pkg.dev/k8s-staging-images/jobset/jobset"

// A release of JobSet once named its staging registry's image; a LAB_MIRROR file may
// say that this is the one.
func TestAManagersImageCanBeNamed(t *testing.T) {
	for _, tag := range []string{"v0.12.0", "v20260101-v0.12.0"} {
		g := NewWithT(t)
		s := newFakeRegistry(t)
		p := s.releases(t)
		s.has(t, staging+":"+tag, "staged", here)
		s.files[jobSetManifest] = deployment("jobset", staging+":"+tag)
		_, _, err := p.Pull(t.Context())
		g.Expect(err).To(MatchError(And(ContainSubstring("names the image "+staging+":"+tag+", where registry.k8s.io/jobset/jobset:v0.12.0 was expected"),
			ContainSubstring("images.jobset"))))

		p.Mirrors.Images.JobSet = staging
		if tag != "v0.12.0" {
			p.Mirrors.Images.JobSet += ":" + tag
		}
		p.Sources, err = ReadSources(fixturestest.Pins(t), p.Mirrors)
		g.Expect(err).NotTo(HaveOccurred())
		set, _, err := p.Pull(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(set.From).To(HaveKey(staging + ":" + tag))
	}
}

func TestAnotherImageOfARelease(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	p := s.releases(t)
	const proxy = "gcr.io/kubebuilder/kube-rbac-proxy:v0.13.0"
	s.has(t, proxy, "proxy", here)
	s.files[kueueManifest] += "---\n" + deployment("proxy", proxy)
	_, _, err := p.Pull(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("names the image " + proxy + ", where none but registry.k8s.io/kueue/kueue:v0.19.2 was expected")))
	p.Sources.Kueue.Also = []string{proxy}
	set, _, err := p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(set.From).To(HaveKey(proxy))
}

// hasIndex makes the registry hold an image of two architectures by one name.
func (s *fakeRegistry) hasIndex(t *testing.T, ref string) (index, own string) {
	t.Helper()
	g := NewWithT(t)
	image := s.has(t, ref+"-here", "here", here)
	both := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: here}}},
		mutate.IndexAddendum{Add: s.has(t, ref+"-there", "there", "s390x"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}})
	to, err := name.NewTag(s.host() + "/" + ref)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.WriteIndex(to, both)).To(Succeed())
	of, err := both.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	is, err := image.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	return of.String(), is.String()
}

// What is listed of a pulled set can be put into the list of what is known, also for
// an image of several architectures; and machines of each find the same.
func TestWhatWasPulledIsKnownAfterwards(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	p := s.releases(t)
	index, own := s.hasIndex(t, busybox)
	set, _, err := p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(set.From[busybox]).To(Equal(index))
	g.Expect(set.Contents[0].Digest).To(Equal(own), "the node knows it by its own digest")

	p.Cache.Dir = t.TempDir()
	for _, known := range []string{index, own} {
		p.Sources.Digest = Digests{busybox: known}
		_, _, err = p.Pull(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		p.Cache.Dir = t.TempDir()
	}
	p.Sources.Digest = Digests(set.From)
	_, _, err = p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	p.Sources.Digest = Digests{busybox: "sha256:" + strings.Repeat("0", 64)}
	_, _, err = p.Cached(t.Context())
	g.Expect(err).To(MatchError(And(ContainSubstring(busybox+" was pulled as "+index), ContainSubstring("rm -r "+p.Cache.Dir))))
	p.Cache.Dir = t.TempDir()
	_, _, err = p.Pull(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("gave another " + busybox + " than was wanted")))
}

func TestDigestsAreNoted(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	p := s.releases(t)
	set, _, err := p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred())

	checkout := t.TempDir()
	path := filepath.Join(checkout, "provision", "registry", "digests.yaml")
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	other := "sha256:" + strings.Repeat("a", 64)
	before := "# A comment.\ndigests:\n  " + busybox + ": " + other + "\n"
	g.Expect(os.WriteFile(path, []byte(before), 0o644)).To(Succeed())

	added, err := p.Note(set, checkout)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(added).To(BeZero(), "what a mirror gives is nobody's word")
	p.Mirrors.Mirror = ""
	added, err = p.Note(set, checkout)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(added).To(Equal(len(set.From) - 1))
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(content)).To(HavePrefix("# A comment.\ndigests:\n"))
	known, err := parseDigests(content)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(known[busybox]).To(Equal(other), "what is known is not changed")
	g.Expect(known[p.Sources.JobSet.Manifest]).To(Equal(set.From[p.Sources.JobSet.Manifest]))
	added, err = p.Note(set, checkout)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(added).To(BeZero())

	g.Expect(os.WriteFile(path, []byte("digests: {busybox: sha256:1}\n"), 0o644)).To(Succeed())
	_, err = p.Note(set, checkout)
	g.Expect(err).To(MatchError(ContainSubstring("provision/registry/digests.yaml: the digest of busybox")))
}
