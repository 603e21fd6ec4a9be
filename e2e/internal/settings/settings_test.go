package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
)

func TestWithoutAKubeconfigNothingIsFallenBackTo(t *testing.T) {
	t.Setenv("KUBECONFIG", labtest.KubeconfigFile(t))
	_, err := ReadSettings(labtest.Environment(nil), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "LAB_KUBECONFIG") || !strings.Contains(err.Error(), "make up") {
		t.Errorf("%v: neither the cause nor the fix", err)
	}
}

func TestAKubeconfigThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	_, err := ReadSettings(labtest.Environment(map[string]string{"LAB_KUBECONFIG": "/nowhere/kubeconfig"}), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "/nowhere/kubeconfig") {
		t.Errorf("%v does not name the file", err)
	}
}

func TestAnImagesNameIsLookedAtBeforeAnyStep(t *testing.T) {
	t.Parallel()
	values := map[string]string{"LAB_KUBECONFIG": labtest.KubeconfigFile(t), "LAB_IMAGE": "busybox: 1"}
	if _, err := ReadSettings(labtest.Environment(values), t.TempDir()); err == nil || !strings.Contains(err.Error(), `LAB_IMAGE is "busybox: 1"`) {
		t.Errorf("%v", err)
	}
	values["LAB_IMAGE"], values["LAB_KEEP"], values["LAB_FRESH"] = "busybox:1", "1", "yes"
	values["FRESH"] = "1" // a VM's environment may hold such a word for other reasons
	if settings, err := ReadSettings(labtest.Environment(values), labtest.Checkout(t)); err != nil || settings.Image != "busybox:1" || !settings.Keep || settings.Fresh {
		t.Errorf("%+v, %v", settings, err)
	}
}

func TestTheDirectoriesAreMade(t *testing.T) {
	t.Parallel()
	root := labtest.Checkout(t)
	settings, err := ReadSettings(labtest.Environment(map[string]string{"LAB_KUBECONFIG": labtest.KubeconfigFile(t)}), root)
	if err != nil {
		t.Fatal(err)
	}
	if settings.WorkDir != filepath.Join(root, ".lab", "gsb-jobset") || settings.Reports != filepath.Join(root, ".lab") {
		t.Errorf("the defaults are %+v", settings)
	}
	entries, err := os.ReadDir(settings.WorkDir)
	if err != nil || len(entries) != 0 {
		t.Errorf("the work directory holds %v (%v) before any step", entries, err)
	}
}

func TestAWorkDirectoryThatCannotBeWrittenIsReportedBeforeAnyStep(t *testing.T) {
	t.Parallel()
	// Below a plain file no directory can be made, not even by root.
	blocked := filepath.Join(labtest.KubeconfigFile(t), "work")
	_, err := ReadSettings(labtest.Environment(map[string]string{"LAB_KUBECONFIG": labtest.KubeconfigFile(t), "LAB_WORKDIR": blocked}), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), blocked) || !strings.Contains(err.Error(), "LAB_WORKDIR=") {
		t.Errorf("%v: neither the directory nor the fix", err)
	}
}
