package labs

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheMarkOfACacheFolder(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	l := newLab(t, "x")
	g.Expect(l.Owner()).To(BeEmpty(), "looking makes none")
	g.Expect(os.ReadDir(l.Folder)).To(BeEmpty())
	first, err := l.EnsureOwner()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(MatchRegexp("^[A-Z2-7]{26}$"))
	g.Expect(l.EnsureOwner()).To(Equal(first))
	g.Expect(os.ReadDir(l.Folder)).To(HaveLen(1), "nothing but the mark")
	g.Expect(newLab(t, "x").EnsureOwner()).NotTo(Equal(first))

	g.Expect(os.WriteFile(l.ownerFile(), nil, 0o644)).To(Succeed())
	_, err = l.EnsureOwner()
	g.Expect(err).To(MatchError(ContainSubstring("rm "+l.ownerFile())), "an empty mark would be everybody's")
}
