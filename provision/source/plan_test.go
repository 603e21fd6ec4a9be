package source

import (
	"os"
	"path/filepath"
	"testing"

	"gsb.test/jobset-e2e/fixtures/fixturestest"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	. "github.com/onsi/gomega"
)

func TestWhatASetIsKnownBy(t *testing.T) {
	g := NewWithT(t)
	p, err := Builder{Checkout: "../..", Pins: fixturestest.Pins(t)}.plan()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.whole("go1.26.8")).To(Equal(p.whole("go1.26.8")))
	g.Expect(p.whole("go1.26.8")).NotTo(Equal(p.whole("go1.27.0")), "another compiler builds anew")
	builder := Builder{Checkout: "../..", Pins: fixturestest.Pins(t)}
	g.Expect(builder.Inputs()).To(Equal(p.whole("")), "an archive is known by what it was made from, not by whom")

	for part := range p.inputs {
		other, err := Builder{Checkout: "../..", Pins: fixturestest.Pins(t)}.plan()
		g.Expect(err).NotTo(HaveOccurred())
		other.inputs[part] = append(other.inputs[part], "a change")
		g.Expect(other.whole("")).NotTo(Equal(p.whole("")), "another "+part+" is another set")
	}
	_, err = Builder{Checkout: t.TempDir()}.plan()
	g.Expect(err).To(MatchError(ContainSubstring("needs a checkout")))
}

func TestAReleaseIsWhatRegistriesHold(t *testing.T) {
	g := NewWithT(t)
	work := t.TempDir()
	shared, own := filepath.Join(work, "shared.tar"), filepath.Join(work, "own.tar")
	g.Expect(writeLayer(shared, []file{{Path: "a", Text: "text", Mode: 0o644}})).To(Succeed())
	g.Expect(writeLayer(own, []file{{Path: "b", Text: "text", Mode: 0o644}})).To(Succeed())
	dir := filepath.Join(t.TempDir(), "oci")
	g.Expect(writeLayout(dir, work, []container{
		{"docker.io/library/one:1", v1.Config{User: anyUser}, []string{shared}},
		{"registry.k8s.io/two:2", v1.Config{}, []string{shared, own}},
	})).To(Succeed())
	index, err := layout.ImageIndexFromPath(dir)
	g.Expect(err).NotTo(HaveOccurred())
	manifest, err := index.IndexManifest()
	g.Expect(err).NotTo(HaveOccurred())
	names := map[string]int{}
	for _, descriptor := range manifest.Manifests {
		image, err := index.Image(descriptor.Digest)
		g.Expect(err).NotTo(HaveOccurred())
		inside, err := image.Manifest()
		g.Expect(err).NotTo(HaveOccurred())
		names[descriptor.Annotations[RefName]] = len(inside.Layers)
		g.Expect(inside.Layers[0].MediaType).To(Equal(types.DockerLayer), "compressed, as in a registry")
	}
	g.Expect(names).To(Equal(map[string]int{"docker.io/library/one:1": 1, "registry.k8s.io/two:2": 2}))
	blobs, err := os.ReadDir(filepath.Join(dir, "blobs", "sha256"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(blobs).To(HaveLen(2+2+2), "two layers, two configurations, two manifests: what is shared is there once")
}
