package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures"
	labregistry "gsb.test/jobset-e2e/provision/registry"
	"gsb.test/jobset-e2e/provision/source"
)

// What the stand-in serves is found by its own mirror file, through the very code
// that pulls from registries.
func TestTheMirrorFileLeadsToWhatIsServed(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	dir := t.TempDir()
	release := source.Release{
		Layout: filepath.Join(dir, "oci"), Node: "docker.io/kindest/node:v1.36.3",
		JobSet: "v0.12.0", JobSetManifest: filepath.Join(dir, "jobset.yaml"),
		Kueue: "v0.19.2", KueueManifest: filepath.Join(dir, "kueue.yaml"),
	}
	g.Expect(os.WriteFile(release.JobSetManifest, []byte("jobset"), 0o644)).To(Succeed())
	g.Expect(os.WriteFile(release.KueueManifest, []byte("kueue"), 0o644)).To(Succeed())
	images, err := layout.Write(release.Layout, empty.Index)
	g.Expect(err).NotTo(HaveOccurred())
	pushed, err := random.Image(1000, 2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(images.AppendImage(pushed, layout.WithAnnotations(map[string]string{source.RefName: release.Node}))).To(Succeed())

	s, err := serve(t.Context(), release)
	g.Expect(err).NotTo(HaveOccurred())
	mirrors, err := labregistry.ReadMirrors(s.mirrors)
	g.Expect(err).NotTo(HaveOccurred())
	pins, err := fixtures.ReadPins()
	g.Expect(err).NotTo(HaveOccurred())
	sources, err := labregistry.ReadSources(pins, mirrors)
	g.Expect(err).NotTo(HaveOccurred())
	client := labregistry.NewClient(mirrors, t.TempDir(), func(string) {})
	for _, answer := range client.Probe(t.Context(), sources) {
		g.Expect(answer.Err).NotTo(HaveOccurred(), answer.String())
	}
	content, err := client.Fetch(t.Context(), sources.JobSet.Manifest)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(content)).To(Equal("jobset"))
	// random.Image is of no architecture, which the pull refuses; that it was found is enough.
	_, err = client.Pull(t.Context(), sources.Node, "")
	g.Expect(err).To(MatchError(ContainSubstring("but not for this machine")))

	s.close()
	g.Expect(s.mirrors).NotTo(BeAnExistingFile())
	_, err = serve(t.Context(), source.Release{Layout: release.Layout, Node: "docker.io/kindest/node:v9"})
	g.Expect(err).To(MatchError(ContainSubstring("the release has no image docker.io/kindest/node:v9")))
}
