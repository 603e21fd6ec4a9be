package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// ClearEvidence removes what earlier runs left, and no other evidence: what made
// the lab may keep its own beside it.
func ClearEvidence(w *cluster.Cluster) error {
	return removeReports(w.Settings, append(evidenceNames(w.Settings), "snapshots", "files")...)
}

// PreflightFolder is where the evidence of a wrong target lies.
const PreflightFolder = "preflight"

// reportsMark is the file that marks a folder of reports: only where it lies do we
// replace and remove what has the names of our reports.
const reportsMark = ".gsb-jobset-reports"

// claimedNames are all names in a folder of reports that a run writes, replaces or
// removes. Whatever else is there, such as provision's own, is in nobody's way.
func claimedNames(s settings.Settings) []string {
	names := []string{"verdict.json", "closing.txt", "junit.xml", "specs.json", "report.html", "timeline.json", "history/runs.jsonl", settings.LedgerName, "snapshots", "files",
		"faults.json", "faults", "answers"}
	return append(names, evidenceNames(s)...)
}

// evidenceNames are the folders of the evidence of failures that are there now,
// below the folder of the reports.
func evidenceNames(s settings.Settings) []string {
	var names []string
	for _, pattern := range []string{PreflightFolder, "step[0-9]*-*", "mistake-*"} {
		found, _ := filepath.Glob(filepath.Join(s.Reports, "evidence", pattern)) // the patterns are well-formed
		for _, path := range found {
			names = append(names, "evidence/"+filepath.Base(path))
		}
	}
	return names
}

// claimReports marks the folder of the reports as one that we write in, unless
// something of somebody else's is there that has the name of one of our reports.
// A folder of this suite's before there were marks is known by what it reported.
func claimReports(s settings.Settings) error {
	mark := filepath.Join(s.Reports, reportsMark)
	if info, err := os.Lstat(mark); err == nil && info.Mode().IsRegular() {
		return nil
	}
	var inTheWay []string
	for _, name := range claimedNames(s) {
		_, err := os.Lstat(filepath.Join(s.Reports, name))
		if err == nil {
			inTheWay = append(inTheWay, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking into the folder of the reports: %w", err)
		}
	}
	if len(inTheWay) > 0 && !reportedBefore(s) {
		return fmt.Errorf("the reports cannot go to %s: this suite did not write %s there, and would replace or remove it.\n"+
			"  Name another directory, an empty or a new one: make steps LAB_REPORTS=/another/folder", s.Reports, text.List(inTheWay))
	}
	content := "This folder holds reports of the JobSet lab's end-to-end suite (lab-e2e). What is named so\n" +
		"here is the suite's, and its next run replaces or removes it; nothing else is touched:\n  " +
		strings.Join(claimedNames(s), "\n  ") + "\n  evidence/preflight, evidence/step*, evidence/mistake-*\n"
	if err := files.ReplaceFile(mark, []byte(content)); err != nil {
		return fmt.Errorf("marking the folder of the reports as the suite's: %w", err)
	}
	return nil
}

// reportedBefore says that a run of this suite has left a verdict in the folder:
// a file that is exactly of our schema.
func reportedBefore(s settings.Settings) bool {
	strictly := func(path string, value any) bool {
		content, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		return decoder.Decode(value) == nil
	}
	var verdict Verdict
	return strictly(verdictPath(s), &verdict) && (verdict.Schema == 1 || verdict.Schema == 2) && verdict.Suite != "" &&
		slices.Contains([]string{passed, partial, Failed, notRun}, verdict.Verdict)
}

// lockReports keeps a second run from writing its reports into the same folder. The
// lock ends with the process at the latest.
func lockReports(s settings.Settings) (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.Reports, reportsMark), flock.SetFlag(os.O_RDONLY))
	held, err := lock.TryLock()
	if err != nil {
		// Not every file system has locks; the folder is the suite's all the same.
		return func() {}, nil //nolint:nilerr // see above
	}
	if !held {
		return nil, fmt.Errorf("another run writes its reports to %s just now.\n"+
			"  Wait for its end, or name another directory: make steps LAB_REPORTS=/another/folder", s.Reports)
	}
	return func() { _ = lock.Unlock() }, nil
}

// removeReports removes reports of earlier runs, by their names below the folder,
// and nothing that a link in it leads to.
func removeReports(s settings.Settings, names ...string) error {
	root, err := os.OpenRoot(s.Reports)
	if err != nil {
		return fmt.Errorf("removing the reports of an earlier run: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range names {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("removing the report of an earlier run: %w", err)
		}
	}
	return nil
}
