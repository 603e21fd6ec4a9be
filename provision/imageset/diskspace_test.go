package imageset

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/images"
)

func TestWhereImagesCanBeBuilt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(mayBuild("linux", 0)).To(Succeed())
	g.Expect(mayBuild("linux", 1000)).To(MatchError(ContainSubstring("which takes root")))
	for _, user := range []int{0, 501} {
		g.Expect(mayBuild("darwin", user)).To(MatchError("building from source needs Linux and root; " +
			"pull them: LAB_IMAGES=registry, or take them from a file that another machine saved: .lab/bin/lab images load FILE"))
	}
}

// What only looks makes no folder, also where nothing has been cached yet.
func TestLookingAtTheImagesMakesNothing(t *testing.T) {
	for _, mode := range []string{"", "source", "registry"} {
		g := NewWithT(t)
		l := cachedLab(t, notThere)
		l.Folder = filepath.Join(t.TempDir(), "not", "there")
		t.Setenv("LAB_IMAGES", mode)
		g.Expect(l.List(t.Context())).To(Succeed())
		g.Expect(Examine(t.Context(), l.Lab).Found).NotTo(BeEmpty())
		g.Expect(filepath.Dir(l.Folder)).NotTo(BeAnExistingFile())
	}
}

// A damaged set is told in one line, and come by again as if it were not there.
func TestADamagedSetIsComeByAgain(t *testing.T) {
	g := NewWithT(t)
	l := cachedLab(t, notThere)
	pull, err := l.puller(silent)
	g.Expect(err).NotTo(HaveOccurred())
	registry, err := pull.Inputs()
	g.Expect(err).NotTo(HaveOccurred())
	source, err := l.Builder(silent).FinishedKey(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	put(t, l, "registry", images.Registry, registry)
	put(t, l, "node", images.Source, source)
	cut := filepath.Join(l.Folder, "images", "registry-"+registry.Short(), "set.json")
	g.Expect(os.Truncate(cut, 10)).To(Succeed())

	says := And(ContainSubstring("the cached registry-"+registry.Short()+" is damaged (set.json has 10 bytes, "), HaveSuffix("it is made again"))
	g.Expect(Examine(t.Context(), l.Lab).Fix).To(ContainSubstring("is damaged"))
	l.onlyLooks = false
	got, err := l.Resolve(t.Context(), silent)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Set.Mode).To(Equal(images.Source), "no registry answers, so it is built")
	g.Expect(got.damaged).To(HaveExactElements(says))
	g.Expect(got.Notes()[0]).To(Equal(got.damaged[0]))
}
