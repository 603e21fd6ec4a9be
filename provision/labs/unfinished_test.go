package labs

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnUnfinishedLabIsNamedUntilItIsFinished(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	u := &Unfinished{}
	u.Begin("x", "made")
	g.Expect(u.String()).To(And(ContainSubstring("lab x was being made"), ContainSubstring("make down LAB_NAME=x")))
	u.Finish()
	g.Expect(u.String()).To(ContainSubstring("No lab was being made or removed"))
}
