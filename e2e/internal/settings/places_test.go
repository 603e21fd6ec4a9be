package settings

import (
	"path/filepath"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
)

func TestPlacesInACheckoutLieBelowIt(t *testing.T) {
	t.Parallel()
	root := labtest.Checkout(t)
	places := DefaultPaths(labtest.Environment(nil), root)
	if places.WorkDir != filepath.Join(root, ".lab", "gsb-jobset") || places.Reports != filepath.Join(root, ".lab") {
		t.Errorf("the places are %+v", places)
	}
}

func TestTheProgramAloneWorksWhereALearnerDoes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	places := DefaultPaths(labtest.Environment(nil), root)
	if places.WorkDir != "/root/gsb-jobset" || places.Reports != filepath.Join(root, ".lab") {
		t.Errorf("the places are %+v", places)
	}
	if places.Kubeconfig != "" {
		t.Errorf("%s was fallen back to", places.Kubeconfig)
	}
}

func TestPlacesThatAreNamedAreTaken(t *testing.T) {
	t.Parallel()
	places := DefaultPaths(labtest.Environment(map[string]string{"LAB_WORKDIR": "/w", "LAB_REPORTS": "/r", "LAB_KUBECONFIG": "/k"}), labtest.Checkout(t))
	if places.WorkDir != "/w" || places.Reports != "/r" || places.Kubeconfig != "/k" {
		t.Errorf("the places are %+v", places)
	}
}
