package main

import (
	"os"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

// The manual in the Makefile's head names every target, in one line or two; those
// are the ones that the other tests try.
func TestEveryTargetOfTheManualIsTried(t *testing.T) {
	g := NewWithT(t)
	makefile, err := os.ReadFile("../../../Makefile")
	g.Expect(err).NotTo(HaveOccurred())
	named := regexp.MustCompile(`(?m)^#   make ([a-z0-9-]+)`).FindAllSubmatch(makefile, -1)
	g.Expect(len(named)).To(BeNumerically(">", 20))
	for _, target := range named {
		g.Expect(targets).To(ContainElement(string(target[1])), "add it to TARGETS in the Makefile, and here")
	}
}
