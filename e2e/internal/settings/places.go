package settings

import (
	"os"
	"path/filepath"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// learnersFolder is where the lab text says that a learner's files are.
const learnersFolder = "/root/gsb-jobset"

// HowToName ends an error of which the fix is a kubeconfig. None is ever fallen
// back to; k3s's is named here to be typed.
const HowToName = "  To make a lab:        make up steps\n" +
	"  To name one you have: make steps LAB_KUBECONFIG=/path/to/its/kubeconfig\n" +
	"  Without a checkout:   lab-e2e run --kubeconfig /path/to/its/kubeconfig (k3s keeps its own at /etc/rancher/k3s/k3s.yaml)"

// DefaultPaths are the settings of a run before anything is looked at. In a checkout all
// lies below .lab. The program alone, as in the lab's own VM, works where a learner
// does, and leaves its reports in .lab below where it was started.
func DefaultPaths(getenv func(string) string, root string) Settings {
	workDir := learnersFolder
	if isCheckout(root) {
		workDir = filepath.Join(root, ".lab", "gsb-jobset")
	}
	return Settings{
		Kubeconfig: getenv("LAB_KUBECONFIG"),
		WorkDir:    text.Or(getenv("LAB_WORKDIR"), workDir),
		Reports:    text.Or(getenv("LAB_REPORTS"), filepath.Join(root, ".lab")),
		Run:        text.Or(getenv(RunVariable), newRun()),
	}
}

// isCheckout reports whether a folder holds this project.
func isCheckout(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "fixtures", "lab", "lab.yaml"))
	return err == nil
}
