package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// What is somebody's in a folder that LAB_REPORTS names is neither removed nor
// replaced: the run refuses, says what is in the way, and what to type.
func TestAFolderThatIsNotOursIsNotWrittenInto(t *testing.T) {
	t.Parallel()
	for _, theirs := range []string{"files/thesis.txt", "snapshots/photo.jpg", "evidence/preflight/statement.txt", "verdict.json",
		"junit.xml", "faults/list.txt", "written.json"} {
		folder := t.TempDir()
		path := filepath.Join(folder, theirs)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		labtest.Put(t, path, `{"mine": "yes"}`)
		settings := settings.Settings{Reports: folder}
		_, err := Begin(settings)
		name, _, _ := strings.Cut(strings.TrimPrefix(theirs, "evidence/"), "/")
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "LAB_REPORTS=/another/folder") {
			t.Errorf("%s: %v", theirs, err)
		}
		SaveRefusal(settings, errors.New("no"))
		if _, err := Begin(settings); err == nil {
			t.Errorf("%s: a run is begun in somebody's folder", theirs)
		}
		labtest.MustHold(t, path, `{"mine": "yes"}`)
		if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) != 1 {
			t.Errorf("%s: there is also %v", theirs, left)
		}
	}
}

func TestAFolderIsMarkedOnceAndThenOurs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	labtest.Put(t, filepath.Join(folder, "notes.txt"), "in nobody's way")
	settings := settings.Settings{Reports: folder}
	for range 2 {
		end, err := Begin(settings)
		if err != nil {
			t.Fatal(err)
		}
		if err := SaveSnapshot(settings, "one", &snapshot.Snapshot{}); err != nil {
			t.Fatal(err)
		}
		w := &cluster.Cluster{Settings: settings}
		if err := ClearEvidence(w); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(snapshots(settings)); !os.IsNotExist(err) {
			t.Errorf("what an earlier run left is still there: %v", err)
		}
		end()
	}
	labtest.MustHold(t, filepath.Join(folder, "notes.txt"), "in nobody's way")
}

// Reports of this suite from before there were marks are its own.
func TestAnOlderFolderOfReportsIsTakenOver(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	labtest.Put(t, filepath.Join(folder, "verdict.json"), `{"schema": 1, "verdict": "passed", "reason": "", "suite": "d7ae3b3", "seconds": 1, "wanted": {}, "found": {}}`)
	if err := os.Mkdir(filepath.Join(folder, "snapshots"), 0o755); err != nil {
		t.Fatal(err)
	}
	end, err := Begin(settings.Settings{Reports: folder})
	if err != nil {
		t.Fatal(err)
	}
	end()
}

func TestTwoRunsDoNotReportIntoOneFolder(t *testing.T) {
	t.Parallel()
	settings := settings.Settings{Reports: t.TempDir()}
	end, err := Begin(settings)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(settings); err == nil || !strings.Contains(err.Error(), "another run writes its reports") {
		t.Errorf("a second run began: %v", err)
	}
	SaveRefusal(settings, errors.New("refused"))
	if verdict, err := ReadVerdict(settings); err != nil || verdict.Verdict != Failed {
		t.Errorf("the refusal of another run is in place of this one's verdict: %+v, %v", verdict, err)
	}
	end()
	if end, err = Begin(settings); err != nil {
		t.Fatal(err)
	}
	end()
}

func TestNothingIsRemovedThroughALink(t *testing.T) {
	t.Parallel()
	settings, elsewhere := settings.Settings{Reports: t.TempDir()}, t.TempDir()
	end, err := Begin(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if err := os.MkdirAll(filepath.Join(elsewhere, PreflightFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(elsewhere, PreflightFolder, "mine.txt")
	labtest.Put(t, path, "mine")
	for link, target := range map[string]string{settings.EvidenceDir(): elsewhere, settings.CollectedFiles(): elsewhere} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	w := &cluster.Cluster{Settings: settings}
	if err := ClearEvidence(w); err == nil {
		t.Error("a link out of the folder is no error")
	}
	labtest.MustHold(t, path, "mine")
}
