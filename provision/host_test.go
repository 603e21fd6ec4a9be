package provision

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatDockersMachineSees(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(sharedWithDocker("linux", "/root", "/mnt/cache")).To(Succeed())
	g.Expect(sharedWithDocker("darwin", "/Users/kim", "/Users/kim/Library/Caches/gsb-jobset")).To(Succeed())
	g.Expect(sharedWithDocker("darwin", "/Users/kim", "/Users/kimchi/cache")).To(MatchError(ContainSubstring("XDG_CACHE_HOME=/Users/kim/lab-cache make e2e")))
}
