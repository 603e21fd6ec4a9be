package kindcluster

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheMarkIsMountedIntoTheNode(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	k := &Cluster{Name: "x", Owner: "us", MadeBy: "anna on box in /suite"}
	mark, err := k.WriteMark(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mark.ContainerPath).To(Equal("/etc/gsb-jobset.owner/us"))
	g.Expect(mark.Readonly).To(Equal(true))
	g.Expect(os.ReadFile(mark.HostPath)).To(BeEquivalentTo("the lab x, made by anna on box in /suite\n"))
}
