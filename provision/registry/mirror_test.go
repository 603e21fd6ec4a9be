package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/fixtures/fixturestest"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/kind/pkg/apis/config/defaults"

	"gsb.test/jobset-e2e/fixtures"
)

func TestWhereThingsAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mirrors               Mirrors
		ref, image            string
		address, downloadedAt string
	}{
		{Mirrors{}, "kindest/node:v1.37.0", "index.docker.io/kindest/node:v1.37.0", "https://github.com/a/b.yaml", "https://github.com/a/b.yaml"},
		{Mirrors{Mirror: "http://m:5000"}, "docker.io/library/busybox:1", "m:5000/docker.io/library/busybox:1", "https://github.com/a/b.yaml", "http://m:5000/github.com/a/b.yaml"},
		{Mirrors{Mirror: "https://m/pre/fix/"}, "registry.k8s.io/kueue/kueue:v1", "m/pre/fix/registry.k8s.io/kueue/kueue:v1", "https://github.com/a", "https://m/pre/fix/github.com/a"},
		{Mirrors{Mirror: "https://m", Hosts: map[string]string{"github.com": "http://files"}}, "busybox:1@sha256:" + strings.Repeat("a", 64),
			"m/docker.io/library/busybox@sha256:" + strings.Repeat("a", 64), "https://github.com/a", "http://files/github.com/a"},
		{Mirrors{Hosts: map[string]string{"docker.io": "http://hub"}}, "registry.k8s.io/pause:3", "registry.k8s.io/pause:3", "https://github.com/a", "https://github.com/a"},
	} {
		t.Run(test.image, func(t *testing.T) {
			g := NewWithT(t)
			at, err := test.mirrors.image(test.ref)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(at.Name()).To(Equal(test.image))
			g.Expect(test.mirrors.download(test.address)).To(Equal(test.downloadedAt))
		})
	}
	g := NewWithT(t)
	at, err := Mirrors{Mirror: "http://mirror.example:5000"}.image("busybox:1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(at.Context().Scheme()).To(Equal("http"))
}

// The bad settings and what is told of them: testdata/mirrors.txt.
func TestABadMirrorIsReportedAsSuch(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("a", 64)
	var messages strings.Builder
	for _, bad := range []struct{ name, content string }{
		{"an unknown key", "mirorr: http://m"},
		{"an unknown version", "versions: {jobsets: v0.13.0}"},
		{"a version that is none", "versions: {jobset: 0.13}"},
		{"no address", "mirror: m:5000"},
		{"credentials in the address", "mirrors: {docker.io: https://me:secret@m}"},
		{"a node without a digest", "node: kindest/node:v1.37.0"},
		{"a node without a tag", "node: kindest/node" + digest},
		{"an image that is not a full name", "images: {jobset: jobset}"},
		{"an image of something else", "images: {kueueviz: registry.k8s.io/kueue/kueueviz}"},
		{"a digest that is none", "digests: {busybox: sha256:1}"},
		{"a list", "[a, b]"},
		{"no YAML", "mirror: {"},
	} {
		_, err := parseMirrors([]byte(bad.content))
		if err == nil {
			t.Errorf("%s: %s was taken", bad.name, bad.content)
			continue
		}
		fmt.Fprintf(&messages, "== %s\n%v\n\n", bad.name, err)
	}
	for _, setting := range []string{"/no/such/file", "ftp://m", "http://", "http://m?x=y"} {
		_, err := ReadMirrors(setting)
		if err == nil {
			t.Errorf("%s was taken", setting)
			continue
		}
		fmt.Fprintf(&messages, "== %s\n%v\n\n", setting, err)
	}
	golden(t, "mirrors.txt", messages.String())
}

func TestGoodMirrors(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(ReadMirrors("")).To(Equal(Mirrors{}))
	g.Expect(ReadMirrors("http://m:5000")).To(Equal(Mirrors{Mirror: "http://m:5000"}))
	file := filepath.Join(t.TempDir(), "m.yaml")
	node := "docker.io/kindest/node:v1.36.3@sha256:" + strings.Repeat("a", 64)
	g.Expect(os.WriteFile(file, []byte("mirrors: {docker.io: http://m}\nnode: "+node+"\nversions: {jobset: v0.12.0}\nimages: {jobset: us-central1-docker.pkg.dev/k8s-staging-images/jobset/jobset}\n"), 0o644)).To(Succeed())
	mirrors, err := ReadMirrors(file)
	g.Expect(err).NotTo(HaveOccurred())
	sources, err := ReadSources(fixturestest.Pins(t), mirrors)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sources.Node).To(Equal(node))
	g.Expect(sources.JobSet.manager()).To(Equal("us-central1-docker.pkg.dev/k8s-staging-images/jobset/jobset:v0.12.0"))
	g.Expect(sources.JobSet.Manifest).To(Equal("https://github.com/kubernetes-sigs/jobset/releases/download/v0.12.0/manifests.yaml"))
}

func TestTheSourcesAreTheLabsAndKinds(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	pins, err := fixtures.ReadPins()
	g.Expect(err).NotTo(HaveOccurred())
	sources, err := ReadSources(pins, Mirrors{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sources.Node).To(Equal(defaults.Image), "the node image that kind's library was tested with, by its digest")
	g.Expect(sources.Steps).To(Equal(pins.Image))
	for _, release := range []struct {
		name, version string
		is            Release
	}{{"jobset", pins.JobSet, sources.JobSet}, {"kueue", pins.Kueue, sources.Kueue}} {
		g.Expect(release.is.Version).To(Equal(release.version))
		g.Expect(release.is.Manifest).To(Equal("https://github.com/kubernetes-sigs/" + release.name + "/releases/download/" + release.version + "/manifests.yaml"))
	}

	for content, says := range map[string]string{
		"jobset: {manifest: https://x, image: y}\nkueue: {manifest: https://x, image: y}\nkueu: {}":    "kueu",
		"jobset: {manifest: https://x, image: y}":                                                      "a release needs manifest",
		"jobset: {manifest: http://x, image: y}\nkueue: {manifest: https://x, image: y}":               "an https address",
		"jobset: {manifest: https://x, image: y}\nkueue: {manifest: https://x, image: y}\ndigests: {}": "digests",
	} {
		_, err := parseSources([]byte(content), nil, pins, Mirrors{})
		g.Expect(err).To(MatchError(ContainSubstring(says)))
	}
}

// The labs that the nightly workflow runs beside the pinned one.
func TestTheNightsLabsCanBeRead(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	labs, err := filepath.Glob("../../.ci/labs/*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(labs).NotTo(BeEmpty())
	for _, lab := range labs {
		mirrors, err := ReadMirrors(lab)
		g.Expect(err).NotTo(HaveOccurred(), lab)
		g.Expect(mirrors).NotTo(Equal(Mirrors{}), lab)
	}
}
