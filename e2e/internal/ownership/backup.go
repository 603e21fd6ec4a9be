package ownership

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
)

// backUpFiles moves the learner's files that lie where the steps write theirs into
// a folder beside them, with the YAML of the learner's JobSets that are about to be
// deleted, and returns what it did, as far as it came. It deletes none. The folder is
// inside the work directory, so that it is on the same disk and the learner finds it.
func backUpFiles(w *cluster.Cluster, jobSets []byte) (message string, err error) {
	others, err := FileRecordOf(w).Unmanaged(StepFiles(w))
	if err != nil || len(others)+len(jobSets) == 0 {
		return "", err
	}
	folder, err := newFolder(filepath.Join(w.Settings.WorkDir, "before-"+time.Now().Format("20060102-150405")))
	if err != nil {
		return "", fmt.Errorf("making a folder for the learner's files: %w", err)
	}
	if len(jobSets) > 0 {
		if err := files.ReplaceFile(filepath.Join(folder, "jobsets.yaml"), jobSets); err != nil {
			return "", fmt.Errorf("keeping the YAML of the learner's JobSets: %w", err)
		}
		message = fmt.Sprintf("--fresh: the YAML of the learner's JobSets was kept: %s/jobsets.yaml\n", folder)
	}
	var moved []string
	for _, path := range others {
		if err = os.Rename(path, filepath.Join(folder, filepath.Base(path))); err != nil {
			err = fmt.Errorf("moving the learner's files aside, of which none was lost: %w", err)
			break
		}
		moved = append(moved, filepath.Base(path))
	}
	if len(moved) > 0 {
		message += fmt.Sprintf("--fresh: the learner's files were moved to %s: %s\n", folder, strings.Join(moved, ", "))
	}
	return message, err
}

// newFolder makes a folder of that name or, where something has it already, of the
// first one with a number behind it that nothing has.
func newFolder(name string) (string, error) {
	folder := name
	for n := 2; ; n++ {
		err := os.Mkdir(folder, 0o755)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return folder, err
		}
		folder = fmt.Sprintf("%s-%d", name, n)
	}
}

// collectFiles moves the files that the run wrote out of a work directory that
// somebody named, to the reports: that folder may be a learner's.
func collectFiles(w *cluster.Cluster) error {
	if w.Settings.Keep || filepath.Dir(w.Settings.WorkDir) == filepath.Clean(w.Settings.Reports) {
		return nil
	}
	home := w.Settings.CollectedFiles()
	for _, path := range StepFiles(w) {
		others, err := FileRecordOf(w).Unmanaged([]string{path})
		if err == nil && len(others) > 0 {
			continue
		}
		var content []byte
		if err == nil {
			content, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(home, 0o755)
		}
		if err == nil {
			err = files.ReplaceFile(filepath.Join(home, filepath.Base(path)), content)
		}
		if err == nil {
			err = FileRecordOf(w).Clear([]string{path})
		}
		if err != nil {
			return fmt.Errorf("taking the files that the run wrote out of the work directory: %w", err)
		}
	}
	return nil
}
