package imageset

import (
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
	"gsb.test/jobset-e2e/provision/images"
)

func TestALabOnOtherVersionsSaysSo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	pins := fixturestest.Pins(t)
	g.Expect(VersionNote(pins, images.Set{JobSet: pins.JobSet, Kueue: pins.Kueue})).To(BeEmpty(), "only what the lab pins has no footnote")
	g.Expect(VersionNote(pins, images.Set{JobSet: "v0.0.1", Kueue: pins.Kueue})).To(Equal("the lab pins JobSet " + pins.JobSet + ": a run on this lab is partial"))
	g.Expect(VersionNote(pins, images.Set{JobSet: pins.JobSet, Kueue: "v0.0.1"})).To(Equal("the lab pins Kueue " + pins.Kueue + ": a run on this lab is partial"))
	g.Expect(VersionNote(pins, images.Set{JobSet: pins.JobSet})).To(ContainSubstring("Kueue"), "an unknown version is not the pinned one")
}
