package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
)

const mixed = `# a comment before the first document
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: some}
---

---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: text, namespace: some}
data:
  nested.yaml: |
    a: 1
    # ---
    b: "--- not a separator"
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.test}
---
apiVersion: v1
kind: Namespace
metadata: {name: some}
---
apiVersion: v1
kind: Secret
metadata: {name: certificate, namespace: some}
`

func TestDocumentsAreSplitAndOrderedByNeed(t *testing.T) {
	t.Parallel()
	objects, err := parse([]byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, rank := range []rank{rankNamespace, rankDefinition, rankPlain, rankWebhook, rankWorkload} {
		for _, object := range objects[rank] {
			order = append(order, object.GetName())
		}
	}
	want := []string{"some", "things.example.test", "text", "certificate", "hook", "manager"}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if data, _, _ := unstructured.NestedString(objects[rankPlain][0].Object, "data", "nested.yaml"); !strings.Contains(data, "--- not a separator") {
		t.Errorf("the text within a document was cut: %q", data)
	}
}

func TestAMissingManifestIsNamed(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "jobset.yaml")
	if _, err := readManifest(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestAConnectionNeedsAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	if _, err := Connect("", fixturestest.Pins(t)); err == nil || !strings.Contains(err.Error(), "no kubeconfig") {
		t.Errorf("no path: %v", err)
	}
	missing := filepath.Join(t.TempDir(), "kubeconfig")
	if _, err := Connect(missing, fixturestest.Pins(t)); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(missing, []byte("kind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(missing, fixturestest.Pins(t)); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a file that names no cluster: %v", err)
	}
}
