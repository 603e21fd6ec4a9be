package provision

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gsb.test/jobset-e2e/fixtures/fixturestest"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/images"
)

func testLab(t *testing.T, name string) *Lab {
	t.Helper()
	return &Lab{Name: name, Checkout: t.TempDir(), Folder: t.TempDir(), Pins: fixturestest.Pins(t)}
}

func TestNames(t *testing.T) {
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
	g := NewWithT(t)
	mine := testLab(t, "x")
	release, err := mine.lock()
	g.Expect(err).NotTo(HaveOccurred())

	_, err = mine.lock()
	g.Expect(err).To(MatchError(And(ContainSubstring("is in use by process"), ContainSubstring("LAB_NAME=x-2 make e2e"))))
	other := &Lab{Name: "y", Checkout: mine.Checkout, Folder: mine.Folder}
	releaseOther, err := other.lock()
	g.Expect(err).NotTo(HaveOccurred(), "another name is another lab")
	releaseOther()

	g.Expect(mine.writeRecord(mine.recordFile(), "podman")).To(Succeed())
	release()
	elsewhere := &Lab{Name: "x", Checkout: t.TempDir(), Folder: mine.Folder}
	_, err = elsewhere.lock()
	g.Expect(err).To(MatchError(And(ContainSubstring("belongs to "+mine.Checkout), ContainSubstring("make down"))))

	g.Expect(os.RemoveAll(mine.Checkout)).To(Succeed())
	release, err = elsewhere.lock()
	g.Expect(err).NotTo(HaveOccurred(), "a lab whose checkout is gone is anybody's to remove")
	g.Expect(elsewhere.removeState()).To(Succeed())
	release()
	g.Expect(elsewhere.removeState()).To(Succeed(), "what is forgotten already is no error")
}

func TestACacheFolderThatCannotBeMade(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o644)).To(Succeed())
	_, err := (&Lab{Name: "x", Checkout: t.TempDir(), Folder: filepath.Join(file, "below")}).lock()
	g.Expect(err).To(MatchError(ContainSubstring("XDG_CACHE_HOME=")))
}

func TestTheList(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	l := &progress{out: &out}
	good, bad := l.start("GPUs"), l.start("Kueue")
	good.end("4 × nvidia.com/gpu allocatable", nil)
	bad.say("waiting for something")
	l.tick()
	g.Expect(out.String()).NotTo(ContainSubstring("waiting"), "a step is not talked of before it is slow")
	bad.told = time.Now().Add(-2 * quiet)
	l.tick()
	bad.end("", errors.New("gave up"))
	g.Expect(out.String()).To(MatchRegexp(` ✓ GPUs +4 × nvidia.com/gpu allocatable +0\.0s\n … Kueue 0s: waiting for something\n ✗ Kueue +see below +0\.0s\n`))
}

func TestSideBySide(t *testing.T) {
	g := NewWithT(t)
	cause := errors.New("no image")
	fails := func(context.Context) error { return cause }
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	err := parallel(waits, fails, waits)(t.Context())
	g.Expect(err).To(MatchError(cause))
	g.Expect(err).NotTo(MatchError(context.Canceled), "what was stopped because of the cause is no cause")

	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	err = parallel(waits, waits)(interrupted)
	g.Expect(err).To(MatchError(context.Canceled))
}

func TestALabOnOtherVersionsSaysSo(t *testing.T) {
	g := NewWithT(t)
	pins := fixturestest.Pins(t)
	g.Expect(versionNote(pins, images.Set{JobSet: pins.JobSet, Kueue: pins.Kueue})).To(BeEmpty(), "only what the lab pins has no footnote")
	g.Expect(versionNote(pins, images.Set{JobSet: "v0.0.1", Kueue: pins.Kueue})).To(Equal("the lab pins JobSet " + pins.JobSet + ": a run on this lab is partial"))
	g.Expect(versionNote(pins, images.Set{JobSet: pins.JobSet, Kueue: "v0.0.1"})).To(Equal("the lab pins Kueue " + pins.Kueue + ": a run on this lab is partial"))
	g.Expect(versionNote(pins, images.Set{JobSet: pins.JobSet})).To(ContainSubstring("Kueue"), "an unknown version is not the pinned one")
}

func TestWhatKindIsTold(t *testing.T) {
	g := NewWithT(t)
	config := (&kindCluster{name: "x", ownNetwork: true}).config()
	g.Expect(config.Networking.DisableDefaultCNI).To(Equal(true))
	g.Expect(config.Networking.APIServerAddress).To(Equal("127.0.0.1"), "the API is for this machine only")
	g.Expect(config.Nodes).To(HaveLen(1))
	g.Expect((&kindCluster{name: "x"}).config().Networking.DisableDefaultCNI).To(Equal(false))
}

func TestAnEngineThatIsNone(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("LAB_ENGINE", "rkt")
	_, err := findEngine(t.Context(), t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("it can be docker or podman")))

	t.Setenv("LAB_ENGINE", "podman")
	t.Setenv("PATH", t.TempDir())
	_, err = findEngine(t.Context(), t.TempDir())
	g.Expect(err).To(MatchError(And(ContainSubstring("podman: not installed"), ContainSubstring("apt-get install podman"))))
}
