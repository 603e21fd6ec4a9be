package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// moveAside moves the learner's files that lie where the steps write theirs into
// a folder beside them, and returns what it did. It deletes none. The folder is
// inside the work directory, so that it is on the same disk and the learner finds it.
func (w *World) moveAside() (told string, err error) {
	strangers, err := w.ledger().strangers(w.stepFiles())
	if err != nil || len(strangers) == 0 {
		return "", err
	}
	folder := filepath.Join(w.Settings.WorkDir, "before-"+time.Now().Format("20060102-150405"))
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", fmt.Errorf("making a folder for the learner's files: %w", err)
	}
	for _, path := range strangers {
		if err := os.Rename(path, filepath.Join(folder, filepath.Base(path))); err != nil {
			return "", fmt.Errorf("moving the learner's files aside: %w", err)
		}
	}
	return fmt.Sprintf("--fresh: the learner's files were moved to %s: %s\n", folder, strings.Join(baseNames(strangers), ", ")), nil
}

// takeHome moves the files that the walk wrote out of a work directory that
// somebody named, to the reports: that folder may be a learner's.
func (w *World) takeHome() error {
	if w.Settings.Keep || filepath.Dir(w.Settings.WorkDir) == filepath.Clean(w.Settings.Reports) {
		return nil
	}
	home := w.Settings.home()
	written, err := w.ledger().read()
	if err != nil {
		return err
	}
	for _, path := range w.stepFiles() {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && written[path] != digest(content) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(home, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(home, filepath.Base(path)), content, 0o644)
		}
		if err == nil {
			err = w.ledger().clear([]string{path})
		}
		if err != nil {
			return fmt.Errorf("taking the files that the walk wrote out of the work directory: %w", err)
		}
	}
	return nil
}

// home is where the files that the walk wrote into a folder of somebody's end up.
func (s Settings) home() string { return filepath.Join(s.Reports, "files") }

// writtenFiles is where the files that the walk wrote lie.
func (s Settings) writtenFiles() string {
	if _, err := os.Stat(s.home()); err == nil {
		return s.home()
	}
	return s.WorkDir
}

func baseNames(paths []string) []string {
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}
