package kindcluster

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheSealIsMountedIntoEveryNode(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	mounts, err := WriteEgressRules(filepath.Join(t.TempDir(), "x.seal"))
	g.Expect(err).NotTo(HaveOccurred())
	config := (&Cluster{Name: "x", Mounts: mounts}).config()
	g.Expect(config.Nodes[0].ExtraMounts).To(HaveLen(2))
	texts := map[string]string{}
	for _, mount := range config.Nodes[0].ExtraMounts {
		content, err := os.ReadFile(mount.HostPath)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(mount.Readonly).To(Equal(true))
		texts[mount.ContainerPath] = string(content)
	}
	g.Expect(texts["/usr/local/sbin/lab-seal"]).To(ContainSubstring("LAB-SEAL -j REJECT"))
	g.Expect(texts["/etc/systemd/system/kubelet.service.d/20-seal.conf"]).To(ContainSubstring("ExecStartPre=/bin/sh /usr/local/sbin/lab-seal"),
		"kubelet does not start, and no controller with it, before the node is sealed")
}
