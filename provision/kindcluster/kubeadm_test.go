package kindcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/provision/engine"
)

// fakeNode is a docker of one node that keeps what kind writes into the node. It
// answers what kind's library asks on its way to kubeadm's configuration.
const fakeNode = `#!/bin/sh
case "$*" in
"info --format {{json .}}") echo '{"CgroupVersion":"2","CgroupDriver":"systemd","MemoryLimit":true,"PidsLimit":true,"CPUShares":true}' ;;
run\ *) touch "$FAKE/runs" ;;
ps\ *) [ ! -e "$FAKE/runs" ] || echo rendered-control-plane ;;
logs\ *) echo "Reached target Multi-User System." ;;
*io.x-k8s.kind.role*) echo control-plane ;;
*IPAddress*) echo 10.0.0.2, ;;
*/kind/version) cat "$FAKE/version" ;;
*/etc/containerd/config.toml) [ "${*#*cp /dev/stdin}" = "$*" ] && echo "version = 2" || cat >/dev/null ;;
*"cp /dev/stdin /kind/kubeadm.conf") cat >"$FAKE/kubeadm.conf" ;;
*) : ;;
esac
`

// rendered is the ClusterConfiguration that kind's own library writes for a node of
// that Kubernetes with the lab's patches.
func rendered(t *testing.T, kubernetes string) (configuration map[string]any) {
	t.Helper()
	g := NewWithT(t)
	fake := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(fake, "docker"), []byte(fakeNode), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(fake, "version"), []byte(kubernetes+"\n"), 0o644)).To(Succeed())
	t.Setenv("PATH", fake+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("FAKE", fake)
	k := &Cluster{Name: "rendered", Image: "any", Engine: engine.Engine{Name: "docker"}, Say: func(string) {}}
	g.Expect(k.provider().Create(k.Name, kindcluster.CreateWithV1Alpha4Config(k.config()), kindcluster.CreateWithNodeImage(k.Image),
		kindcluster.CreateWithStopBeforeSettingUpKubernetes(true))).To(Succeed())
	written, err := os.ReadFile(filepath.Join(fake, "kubeadm.conf"))
	g.Expect(err).NotTo(HaveOccurred())
	for document := range strings.SplitSeq(string(written), "\n---\n") {
		var object map[string]any
		g.Expect(yaml.Unmarshal([]byte(document), &object)).To(Succeed())
		if object["kind"] == "ClusterConfiguration" {
			configuration = object
		}
	}
	g.Expect(configuration).NotTo(BeNil(), string(written))
	return configuration
}

// The Kubernetes versions are those of the nightly matrix and the one that kind's
// library pulls by itself.
func TestKubeadmIsConfiguredTheSameOnAnyKubernetes(t *testing.T) {
	for kubernetes, version := range map[string]string{
		"v1.34.11": "v1beta3", "v1.35.8": "v1beta3", "v1.36.4": "v1beta4", "v1.37.0": "v1beta4",
	} {
		t.Run(kubernetes, func(t *testing.T) {
			g := NewWithT(t)
			configuration := rendered(t, kubernetes)
			g.Expect(configuration).To(HaveKeyWithValue("apiVersion", "kubeadm.k8s.io/"+version))
			for _, component := range []string{"controllerManager", "scheduler"} {
				told, ok := configuration[component].(map[string]any)
				g.Expect(ok).To(Equal(true), component)
				// kubeadm refuses the form of another version.
				if version == "v1beta3" {
					g.Expect(told["extraArgs"]).To(HaveKeyWithValue("leader-elect", "false"), component)
				} else {
					g.Expect(told["extraArgs"]).To(ContainElement(map[string]any{"name": "leader-elect", "value": "false"}), component)
				}
			}
			g.Expect(fmt.Sprint(configuration["apiServer"])).NotTo(ContainSubstring("leader-elect"))
			etcd := configuration["etcd"].(map[string]any)["local"].(map[string]any)
			if version == "v1beta3" {
				g.Expect(etcd["extraArgs"]).To(HaveKeyWithValue("unsafe-no-fsync", "true"))
				g.Expect(configuration).NotTo(HaveKey("encryptionAlgorithm"), "kubeadm refuses what it does not know")
			} else {
				g.Expect(etcd["extraArgs"]).To(ContainElement(map[string]any{"name": "unsafe-no-fsync", "value": "true"}))
				g.Expect(configuration).To(HaveKeyWithValue("encryptionAlgorithm", "ECDSA-P256"))
			}
		})
	}
}
