package kindcluster

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhatKindIsAskedFor(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	config := (&Cluster{Name: "x", OwnNetwork: true}).config()
	g.Expect(config.Networking.DisableDefaultCNI).To(Equal(true))
	g.Expect(config.Networking.APIServerAddress).To(Equal("127.0.0.1"), "the API is for this machine only")
	g.Expect(config.Nodes).To(HaveLen(1))
	g.Expect((&Cluster{Name: "x"}).config().Networking.DisableDefaultCNI).To(Equal(false))
}
