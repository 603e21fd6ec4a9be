package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// checkout is a folder that looks like this project's.
func checkout(t *testing.T) string {
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

func TestPlacesInACheckoutLieBelowIt(t *testing.T) {
	root := checkout(t)
	places := Places(environment(nil), root)
	if places.WorkDir != filepath.Join(root, ".lab", "gsb-jobset") || places.Reports != filepath.Join(root, ".lab") {
		t.Errorf("the places are %+v", places)
	}
}

func TestTheProgramAloneWorksWhereALearnerDoes(t *testing.T) {
	root := t.TempDir()
	places := Places(environment(nil), root)
	if places.WorkDir != "/root/gsb-jobset" || places.Reports != filepath.Join(root, ".lab") {
		t.Errorf("the places are %+v", places)
	}
	if places.Kubeconfig != "" {
		t.Errorf("%s was fallen back to", places.Kubeconfig)
	}
}

func TestPlacesThatAreNamedAreTaken(t *testing.T) {
	places := Places(environment(map[string]string{"LAB_WORKDIR": "/w", "LAB_REPORTS": "/r", "LAB_KUBECONFIG": "/k"}), checkout(t))
	if places.WorkDir != "/w" || places.Reports != "/r" || places.Kubeconfig != "/k" {
		t.Errorf("the places are %+v", places)
	}
}
