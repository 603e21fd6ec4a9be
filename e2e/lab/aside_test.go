package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// visited is a world in a learner's work directory, with one step that writes
// two files.
func visited(t *testing.T) *World {
	t.Helper()
	return &World{Settings: Settings{WorkDir: t.TempDir(), Reports: t.TempDir(), Files: []string{"mine.txt", "ours.txt"}}}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustHold(t *testing.T, path, content string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%s holds %q (%v), not %q", path, got, err, content)
	}
}

func TestALearnersFilesAreMovedAsideAndNeverDeleted(t *testing.T) {
	w := visited(t)
	put(t, filepath.Join(w.Settings.WorkDir, "mine.txt"), "an answer")
	put(t, filepath.Join(w.Settings.WorkDir, "notes.txt"), "in nobody's way")
	if err := w.writeFile("ours.txt", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	told, err := w.moveAside(nil)
	if err != nil {
		t.Fatal(err)
	}
	aside, err := filepath.Glob(filepath.Join(w.Settings.WorkDir, "before-*", "*"))
	if err != nil || len(aside) != 1 || !strings.Contains(told, filepath.Dir(aside[0])+": mine.txt") {
		t.Fatalf("aside lie %v (%v), and it says %q", aside, err, told)
	}
	mustHold(t, aside[0], "an answer")
	mustHold(t, filepath.Join(w.Settings.WorkDir, "notes.txt"), "in nobody's way")
	mustHold(t, filepath.Join(w.Settings.WorkDir, "ours.txt"), "ours")
	if again, err := w.moveAside(nil); err != nil || again != "" {
		t.Errorf("with nothing left to move it says %q (%v)", again, err)
	}
}

func TestAWorkDirectoryThatWasNamedIsLeftAsItWas(t *testing.T) {
	w := visited(t)
	for _, name := range []string{"mine.txt", "ours.txt"} {
		if err := w.writeFile(name, []byte("ours")); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(w.Settings.WorkDir, "mine.txt"), "and then a learner's")
	if err := w.takeHome(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(w.Settings.WorkDir, "mine.txt"), "and then a learner's")
	mustHold(t, filepath.Join(w.Settings.Reports, "files", "ours.txt"), "ours")
	if _, err := os.Stat(filepath.Join(w.Settings.WorkDir, "ours.txt")); !os.IsNotExist(err) {
		t.Errorf("what the walk wrote is still in the learner's folder: %v", err)
	}
}

func TestAWorkDirectoryOfOurOwnAndOneToBeKeptStayAsTheyAre(t *testing.T) {
	for _, change := range []func(*World){
		func(w *World) { w.Settings.Reports = filepath.Dir(w.Settings.WorkDir) },
		func(w *World) { w.Settings.Keep = true },
	} {
		w := visited(t)
		change(w)
		if err := w.writeFile("ours.txt", []byte("ours")); err != nil {
			t.Fatal(err)
		}
		if err := w.takeHome(); err != nil {
			t.Fatal(err)
		}
		mustHold(t, filepath.Join(w.Settings.WorkDir, "ours.txt"), "ours")
	}
}
