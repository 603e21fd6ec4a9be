package cluster

import (
	"os"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

func TestNothingStandsInForAKubeconfigThatNamesNoCluster(t *testing.T) {
	// client-go takes the cluster that the program runs in for such a file's.
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "1")
	for name, content := range map[string]string{
		"empty":      "apiVersion: v1\nkind: Config\n",
		"no context": "apiVersion: v1\nkind: Config\nclusters: [{name: lab, cluster: {server: https://127.0.0.1:2}}]\n",
		"no server":  "apiVersion: v1\nkind: Config\ncurrent-context: lab\ncontexts: [{name: lab, context: {cluster: lab, user: me}}]\n",
		"no YAML":    "{",
	} {
		path := labtest.KubeconfigFile(t)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if target, err := Connect(settings.Settings{Kubeconfig: path}); err == nil {
			t.Errorf("%s: connected to %s", name, target.Config.Host)
		} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "LAB_KUBECONFIG=") {
			t.Errorf("%s: %v names neither the file nor the fix", name, err)
		}
	}
}
