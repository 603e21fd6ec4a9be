package ownership

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
)

// Whatever is in the place of a step's file and was not written by this suite is
// somebody's, and is found out within moments, whatever kind of file it is.
func TestWhatIsNotAFileOfOursIsSomebodyElses(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path, elsewhere string) error{
		"a symbolic link to what we wrote": func(path, elsewhere string) error { return os.Symlink(elsewhere, path) },
		"a link to nothing":                func(path, elsewhere string) error { return os.Symlink(elsewhere+"-gone", path) },
		"a folder":                         func(path, _ string) error { return os.Mkdir(path, 0o755) },
		"a pipe that nobody writes into":   func(path, _ string) error { return syscall.Mkfifo(path, 0o644) },
		"a hard link to other content": func(path, elsewhere string) error {
			if err := os.WriteFile(elsewhere, []byte("theirs"), 0o644); err != nil {
				return err
			}
			return os.Link(elsewhere, path)
		},
		"a huge file": func(path, _ string) error {
			file, err := os.Create(path)
			if err == nil {
				err = file.Truncate(1 << 40)
			}
			return err
		},
	} {
		w, elsewhere := visited(t), filepath.Join(t.TempDir(), "elsewhere")
		path := filepath.Join(w.Settings.WorkDir, "ours.txt")
		if err := WriteFile(w, "ours.txt", []byte("ours")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := make(path, elsewhere); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(elsewhere)
		began := time.Now()
		others, err := FileRecordOf(w).Unmanaged(StepFiles(w))
		if err != nil || !slices.Equal(others, []string{path}) || time.Since(began) > time.Second {
			t.Errorf("%s: others are %v (%v)", name, others, err)
		}
		if err := WriteFile(w, "ours.txt", []byte("ours anew")); err == nil || !strings.Contains(err.Error(), "is not written over") {
			t.Errorf("%s was written over or through: %v", name, err)
		}
		if err := FileRecordOf(w).Clear([]string{path}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
		if after, _ := os.ReadFile(elsewhere); string(after) != string(before) {
			t.Errorf("%s: what it leads to now holds %q", name, after)
		}
	}
}

// Our own file may have a second name, by which a learner keeps it: a new content
// is never written into that.
func TestASecondNameOfOurFileKeepsItsContent(t *testing.T) {
	t.Parallel()
	w := visited(t)
	path, second := filepath.Join(w.Settings.WorkDir, "ours.txt"), filepath.Join(t.TempDir(), "kept.txt")
	if err := WriteFile(w, "ours.txt", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, second); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(w, "ours.txt", []byte("second")); err != nil {
		t.Fatal(err)
	}
	labtest.MustHold(t, second, "first")
	labtest.MustHold(t, path, "second")
}

func TestAnotherCheckoutsFilesAreSomebodyElses(t *testing.T) {
	t.Parallel()
	one := visited(t)
	if err := WriteFile(one, "ours.txt", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	other := &cluster.Cluster{Settings: one.Settings}
	other.Settings.Reports = t.TempDir()
	if others, err := FileRecordOf(other).Unmanaged(StepFiles(other)); err != nil || len(others) != 1 {
		t.Errorf("the other checkout takes them for its own: %v, %v", others, err)
	}
	if err := WriteFile(other, "ours.txt", []byte("other's")); err == nil {
		t.Error("the other checkout has written over them")
	}
	labtest.Put(t, FileRecordOf(one).path, "null")
	if others, err := FileRecordOf(one).Unmanaged(StepFiles(one)); err != nil || len(others) != 1 {
		t.Errorf("with an empty ledger: %v, %v", others, err)
	}
	if err := WriteFile(one, "mine.txt", []byte("ours")); err != nil {
		t.Errorf("with an empty ledger: %v", err)
	}
}

func TestTwoMovesInOneSecondDoNotCollide(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "before-20261201-020000")
	var made []string
	for range 3 {
		folder, err := newFolder(base)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, filepath.Base(folder))
	}
	if !slices.Equal(made, []string{"before-20261201-020000", "before-20261201-020000-2", "before-20261201-020000-3"}) {
		t.Errorf("made %v", made)
	}
}

// A pipe, a folder or a link of a learner's is moved as it is.
func TestWhatIsNoFileIsMovedAsideToo(t *testing.T) {
	t.Parallel()
	w := visited(t)
	if err := os.Mkdir(filepath.Join(w.Settings.WorkDir, "mine.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(w.Settings.WorkDir, "ours.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	told, err := backUpFiles(w, []byte("kind: List\n"))
	if err != nil {
		t.Fatal(err)
	}
	aside, _ := filepath.Glob(filepath.Join(w.Settings.WorkDir, "before-*", "*"))
	if len(aside) != 3 || !strings.Contains(told, "jobsets.yaml") || !strings.Contains(told, ": mine.txt, ours.txt") {
		t.Errorf("aside lie %v, and it says %q", aside, told)
	}
}
