package ownership

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// visited is a target in a learner's work directory, with one step that writes
// two files.
func visited(t *testing.T) *cluster.Cluster {
	t.Helper()
	return &cluster.Cluster{Settings: settings.Settings{WorkDir: t.TempDir(), Reports: t.TempDir(), Files: []string{"mine.txt", "ours.txt"}}}
}

func TestALearnersFilesAreMovedAsideAndNeverDeleted(t *testing.T) {
	t.Parallel()
	w := visited(t)
	labtest.Put(t, filepath.Join(w.Settings.WorkDir, "mine.txt"), "an answer")
	labtest.Put(t, filepath.Join(w.Settings.WorkDir, "notes.txt"), "in nobody's way")
	if err := WriteFile(w, "ours.txt", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	told, err := backUpFiles(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	aside, err := filepath.Glob(filepath.Join(w.Settings.WorkDir, "before-*", "*"))
	if err != nil || len(aside) != 1 || !strings.Contains(told, filepath.Dir(aside[0])+": mine.txt") {
		t.Fatalf("aside lie %v (%v), and it says %q", aside, err, told)
	}
	labtest.MustHold(t, aside[0], "an answer")
	labtest.MustHold(t, filepath.Join(w.Settings.WorkDir, "notes.txt"), "in nobody's way")
	labtest.MustHold(t, filepath.Join(w.Settings.WorkDir, "ours.txt"), "ours")
	if again, err := backUpFiles(w, nil); err != nil || again != "" {
		t.Errorf("with nothing left to move it says %q (%v)", again, err)
	}
}

func TestAWorkDirectoryThatWasNamedIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	w := visited(t)
	for _, name := range []string{"mine.txt", "ours.txt"} {
		if err := WriteFile(w, name, []byte("ours")); err != nil {
			t.Fatal(err)
		}
	}
	labtest.Put(t, filepath.Join(w.Settings.WorkDir, "mine.txt"), "and then a learner's")
	if err := collectFiles(w); err != nil {
		t.Fatal(err)
	}
	labtest.MustHold(t, filepath.Join(w.Settings.WorkDir, "mine.txt"), "and then a learner's")
	labtest.MustHold(t, filepath.Join(w.Settings.Reports, "files", "ours.txt"), "ours")
	if _, err := os.Stat(filepath.Join(w.Settings.WorkDir, "ours.txt")); !os.IsNotExist(err) {
		t.Errorf("what the run wrote is still in the learner's folder: %v", err)
	}
}

func TestAWorkDirectoryOfOurOwnAndOneToBeKeptStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*cluster.Cluster){
		func(w *cluster.Cluster) { w.Settings.Reports = filepath.Dir(w.Settings.WorkDir) },
		func(w *cluster.Cluster) { w.Settings.Keep = true },
	} {
		w := visited(t)
		change(w)
		if err := WriteFile(w, "ours.txt", []byte("ours")); err != nil {
			t.Fatal(err)
		}
		if err := collectFiles(w); err != nil {
			t.Fatal(err)
		}
		labtest.MustHold(t, filepath.Join(w.Settings.WorkDir, "ours.txt"), "ours")
	}
}
