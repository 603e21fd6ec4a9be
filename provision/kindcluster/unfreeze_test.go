package kindcluster

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestThawing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	root := t.TempDir()
	states := map[string]string{
		"freezer.state":                        "THAWED\n",
		"libpod-abc/freezer.state":             "THAWED\n",
		"libpod-abc/kubelet/pod/freezer.state": "FROZEN\n",
		"libpod-abc/kubelet/two/freezer.state": "FREEZING\n",
		"libpod-other/pod/freezer.state":       "FROZEN\n",
	}
	for path, state := range states {
		path = filepath.Join(root, path)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(state), 0o644)).To(Succeed())
	}
	g.Expect(unfreeze(root, "abc")).To(Succeed())
	for path, wanted := range map[string]string{
		"libpod-abc/kubelet/pod/freezer.state": "THAWED",
		"libpod-abc/kubelet/two/freezer.state": "THAWED",
		"libpod-other/pod/freezer.state":       "FROZEN\n",
	} {
		g.Expect(os.ReadFile(filepath.Join(root, path))).To(BeEquivalentTo(wanted), path)
	}
	g.Expect(unfreeze(filepath.Join(root, "nowhere"), "abc")).To(Succeed(), "a host without a freezer")
}
