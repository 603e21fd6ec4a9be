package main

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

// make help is the manual: every target that it names is tried by the other tests, and
// it stays short.
func TestTheManual(t *testing.T) {
	g := NewWithT(t)
	help, err := copyMakefile(t).make(t, nil, []string{"help"})
	g.Expect(err).NotTo(HaveOccurred(), help)
	var named []string
	for _, target := range regexp.MustCompile(`(?m)^  make ([a-z0-9-]+)`).FindAllStringSubmatch(help, -1) {
		named = append(named, target[1])
	}
	g.Expect(named).To(ConsistOf(targets))
	g.Expect(len(named)).To(BeNumerically("<=", 14))
	g.Expect(regexp.MustCompile(`(?m)^  [A-Z_]+=`).FindAllString(help, -1)).To(HaveLen(8))
}
