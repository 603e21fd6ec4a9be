package labs

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"": true, "gsb-jobset": true, "a": true, "lab-2": true,
		"Lab": false, "-lab": false, "lab-": false, "a_b": false, "a b": false, "../x": false,
		"a123456789012345678901234567890123456789": true, "a1234567890123456789012345678901234567890": false,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			l, err := New(fixturestest.Pins(t), name)
			if good {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(filepath.Join(l.Checkout, "go.mod")).To(BeARegularFile())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring("small letters, digits and hyphens")))
			}
		})
	}
}

// Both engines and kind have networks of their own, which a lab's name must not be.
func TestNamesOfTheEnginesOwnNetworks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"none", "host", "default", "bridge", "podman", "container", "private", "ingress", "kind"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := New(fixturestest.Pins(t), name)
			g.Expect(err).To(MatchError(ContainSubstring("LAB_NAME=gsb-jobset-" + name)))
		})
	}
}

func TestOutsideACheckout(t *testing.T) {
	g := NewWithT(t)
	t.Chdir(t.TempDir())
	_, err := New(fixturestest.Pins(t), "")
	g.Expect(err).To(MatchError(ContainSubstring("cd into one")))
}

func TestALabIsHeldByOneRunAndOwnedByOneCheckout(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	mine := newLab(t, "x")
	release, err := mine.Lock()
	g.Expect(err).NotTo(HaveOccurred())

	_, err = mine.Lock()
	g.Expect(err).To(MatchError(And(ContainSubstring("is in use by process"), ContainSubstring("LAB_NAME=x-2 make e2e"))))
	other := &Lab{Name: "y", Checkout: mine.Checkout, Folder: mine.Folder}
	releaseOther, err := other.Lock()
	g.Expect(err).NotTo(HaveOccurred(), "another name is another lab")
	releaseOther()

	g.Expect(mine.WriteRecord(mine.RecordFile(), "podman")).To(Succeed())
	release()
	elsewhere := &Lab{Name: "x", Checkout: t.TempDir(), Folder: mine.Folder}
	_, err = elsewhere.Lock()
	g.Expect(err).To(MatchError(And(ContainSubstring("belongs to "+mine.Checkout), ContainSubstring("make down"))))

	g.Expect(os.RemoveAll(mine.Checkout)).To(Succeed())
	release, err = elsewhere.Lock()
	g.Expect(err).NotTo(HaveOccurred(), "a lab whose checkout is gone is anybody's to remove")
	g.Expect(elsewhere.RemoveState()).To(Succeed())
	release()
	g.Expect(elsewhere.RemoveState()).To(Succeed(), "what is forgotten already is no error")
}

func TestACacheFolderThatCannotBeMade(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o644)).To(Succeed())
	_, err := (&Lab{Name: "x", Checkout: t.TempDir(), Folder: filepath.Join(file, "below")}).Lock()
	g.Expect(err).To(MatchError(ContainSubstring("XDG_CACHE_HOME=")))
}

func newLab(t *testing.T, name string) *Lab {
	t.Helper()
	return &Lab{Name: name, Checkout: t.TempDir(), Folder: t.TempDir(), Pins: fixturestest.Pins(t)}
}

func TestTheCacheLiesWhereXDGSays(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	g.Expect(userCache()).To(Equal("/somewhere"))
	t.Setenv("XDG_CACHE_HOME", "")
	usual, err := os.UserCacheDir()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(userCache()).To(Equal(usual))
}
