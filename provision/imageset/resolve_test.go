package imageset

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/labs"
)

// cachedLab is a lab of this checkout whose cache is empty, where every host is a
// server that a test gives.
func cachedLab(t *testing.T, answers http.HandlerFunc) *Resolver {
	t.Helper()
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	t.Setenv("LAB_MIRROR", server.URL)
	t.Setenv("LAB_IMAGES", "")
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	checkout, err := filepath.Abs("../..")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return &Resolver{Lab: &labs.Lab{Name: "x", Checkout: checkout, Folder: t.TempDir(), Pins: fixturestest.Pins(t)}}
}

// put makes an entry of a set in the cache, as a finished build or a load does.
func put(t *testing.T, l *Resolver, entry string, mode images.Mode, key images.Key) {
	t.Helper()
	g := NewWithT(t)
	_, _, err := l.cache().Entry(t.Context(), entry, key, silent, fillWith(g, images.Set{Mode: mode, Inputs: key.String(),
		Architecture: runtime.GOARCH, Node: "localhost/lab-node:1", Archive: "node.tar"}))
	g.Expect(err).NotTo(HaveOccurred())
}

func silent(string) {}

// notThere is a host that has nothing, not even a registry.
func notThere(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }

func TestWhichWayTheImagesAreComeBy(t *testing.T) {
	never := func(t *testing.T) http.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) { t.Error("a host was asked") }
	}
	keys := func(g *WithT, l *Resolver) (registry, source images.Key) {
		pull, err := l.puller(silent)
		g.Expect(err).NotTo(HaveOccurred())
		registry, err = pull.Inputs()
		g.Expect(err).NotTo(HaveOccurred())
		source, err = l.Builder(silent).Inputs()
		g.Expect(err).NotTo(HaveOccurred())
		return registry, source
	}
	t.Run("a finished set of the registries is taken unasked", func(t *testing.T) {
		g := NewWithT(t)
		l := cachedLab(t, never(t))
		registry, _ := keys(g, l)
		put(t, l, "registry", images.Registry, registry)
		for _, setting := range []string{"", "auto", "registry"} {
			t.Setenv("LAB_IMAGES", setting)
			got, err := l.Resolve(t.Context(), silent)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Set.Mode).To(Equal(images.Registry))
		}
	})
	t.Run("a loaded archive is taken unasked, whatever it is of", func(t *testing.T) {
		for _, mode := range []images.Mode{images.Registry, images.Source} {
			g := NewWithT(t)
			l := cachedLab(t, never(t))
			registry, source := keys(g, l)
			put(t, l, "loaded-"+string(mode), mode, map[images.Mode]images.Key{images.Registry: registry, images.Source: source}[mode])
			for _, setting := range []string{"auto", string(mode)} {
				t.Setenv("LAB_IMAGES", setting)
				got, err := l.Resolve(t.Context(), silent)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got.Set.Mode).To(Equal(mode))
			}
		}
	})
	t.Run("source where the registries do not answer, and it says why", func(t *testing.T) {
		g := NewWithT(t)
		l := cachedLab(t, notThere)
		key, err := l.Builder(silent).FinishedKey(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		put(t, l, "node", images.Source, key)
		got, err := l.Resolve(t.Context(), silent)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Set.Mode).To(Equal(images.Source))
		host := strings.TrimPrefix(os.Getenv("LAB_MIRROR"), "http://")
		g.Expect(got.silent).To(Equal([]string{
			host + " (for docker.io) does not answer: 403 Forbidden",
			host + " (for registry.k8s.io) does not answer: 403 Forbidden",
			host + " (for github.com) does not answer: 403 Forbidden",
		}))
		g.Expect(got.Origin()).To(Equal("source build, as " + host + " (for docker.io) does not answer"))

		t.Setenv("LAB_IMAGES", "source")
		t.Setenv("LAB_MIRROR", "http://127.0.0.1:1")
		got, err = l.Resolve(t.Context(), silent)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.silent).To(BeEmpty(), "nobody was asked")
		g.Expect(got.Origin()).To(Equal("source build"))
	})
	t.Run("registry where none answers is told at once", func(t *testing.T) {
		g := NewWithT(t)
		l := cachedLab(t, notThere)
		t.Setenv("LAB_IMAGES", "registry")
		_, err := l.Resolve(t.Context(), silent)
		g.Expect(err).To(MatchError(And(ContainSubstring("LAB_IMAGES=registry, but no registry answers"),
			ContainSubstring("(for registry.k8s.io) does not answer: 403 Forbidden"), ContainSubstring("LAB_IMAGES=source"))))
	})
	t.Run("a setting that is none", func(t *testing.T) {
		g := NewWithT(t)
		l := cachedLab(t, never(t))
		t.Setenv("LAB_IMAGES", "docker")
		_, err := l.Resolve(t.Context(), silent)
		g.Expect(err).To(MatchError(`LAB_IMAGES is "docker"; it can be auto, registry or source`))
		t.Setenv("LAB_IMAGES", "")
		t.Setenv("LAB_MIRROR", "mirror.example:5000")
		_, err = l.Resolve(t.Context(), silent)
		g.Expect(err).To(MatchError(ContainSubstring("neither an address")))
	})
}

func TestAnArchiveOfAnotherCheckoutDoesNotFit(t *testing.T) {
	g := NewWithT(t)
	l := cachedLab(t, nil)
	pull, err := l.puller(silent)
	g.Expect(err).NotTo(HaveOccurred())
	key, err := pull.Inputs()
	g.Expect(err).NotTo(HaveOccurred())
	set := images.Set{Mode: images.Registry, Inputs: key.String(), Architecture: runtime.GOARCH, JobSet: "v0.13.0"}
	g.Expect(l.fits(set)).To(Succeed())
	set.Mode = images.Source
	g.Expect(l.fits(set)).To(MatchError(ContainSubstring("was saved by another checkout")), "the key is the other mode's")
	set.Mode, set.Inputs = images.Registry, images.KeyOf("other").String()
	g.Expect(l.fits(set)).To(MatchError(And(ContainSubstring("was saved by another checkout"), ContainSubstring("JobSet v0.13.0"))))
	set.Architecture = "riscv64"
	g.Expect(l.fits(set)).To(MatchError(ContainSubstring("it is for machines of riscv64")))
}

// fillWith fills an entry with a set whose only file is empty.
func fillWith(g *WithT, set images.Set) func(context.Context, string) error {
	return func(_ context.Context, dir string) error {
		g.Expect(os.WriteFile(filepath.Join(dir, set.Archive), nil, 0o644)).To(Succeed())
		return set.Write(dir)
	}
}
