package provision

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestALabWithoutAKubeconfigIsNotInUse(t *testing.T) {
	t.Parallel()
	NewWithT(t).Expect(refuseInUse(t.Context(), testLab(t, "x"))).To(Succeed())
}
