// Package labtest holds what the tests of several packages make: labs in trouble, a
// fake API server, files.
package labtest

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/fixtures"
)

func Put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func MustHold(t *testing.T, path, content string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%s holds %q (%v), not %q", path, got, err, content)
	}
}

// Checkout is a folder that looks like this project's.
func Checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "fixtures", "lab"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "fixtures", "lab", "lab.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func Named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func Pinned(t *testing.T) fixtures.Pins {
	t.Helper()
	pins, err := fixtures.ReadPins()
	if err != nil {
		t.Fatal(err)
	}
	return pins
}

func Environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func KubeconfigFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
