package ownership

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheLedgerKnowsItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := fileRecord{filepath.Join(dir, "written.json")}
	at := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"ours.txt", "changed.txt"} {
		if err := l.note(filepath.Join(dir, name), []byte("ours")); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{at("ours.txt", "ours"), at("changed.txt", "ours, and then a learner's"), at("theirs.txt", "theirs"), filepath.Join(dir, "missing.txt")}

	others, err := l.Unmanaged(paths)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(others, []string{paths[1], paths[2]}) {
		t.Errorf("others are %v", others)
	}

	if err := l.Clear([]string{paths[0], paths[2]}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(paths[0]); !os.IsNotExist(err) {
		t.Errorf("our own file is still there: %v", err)
	}
	if _, err := os.Stat(paths[2]); err != nil {
		t.Errorf("somebody else's file is gone: %v", err)
	}
}

func TestALedgerThatCannotBeReadIsReportedWithItsFix(t *testing.T) {
	t.Parallel()
	l := fileRecord{filepath.Join(t.TempDir(), "written.json")}
	if err := os.WriteFile(l.path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Unmanaged(nil); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("%v", err)
	}
}
