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

func TestTheAPIServerIsReachedBeforeKubeProxyRuns(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	mounts, err := WriteAPIRoute(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mounts).To(HaveLen(1))
	content, err := os.ReadFile(mounts[0].HostPath)
	g.Expect(err).NotTo(HaveOccurred())
	// Pods come in by PREROUTING, the node's own processes go out by OUTPUT.
	for _, chain := range []string{"PREROUTING", "OUTPUT"} {
		g.Expect(string(content)).To(ContainSubstring("-A " + chain + " -d 10.96.0.1/32 -p tcp --dport 443 -j REDIRECT --to-ports 6443"))
	}
	g.Expect(string(content)).NotTo(ContainSubstring("$"), "systemd would put its own variables there")
}
