package ownership

import (
	"fmt"
	"path/filepath"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
)

// WriteFile writes into the work directory and notes that the file is ours. What
// somebody else has put in its place since the preflight is not written over.
func WriteFile(w *cluster.Cluster, name string, content []byte) error {
	path := filepath.Join(w.Settings.WorkDir, name)
	others, err := FileRecordOf(w).Unmanaged([]string{path})
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("%s was not written by this run and has appeared meanwhile, so it is not written over; "+
			"move it away, or name another directory with LAB_WORKDIR=/path", path)
	}
	if err := FileRecordOf(w).note(path, content); err != nil {
		return err
	}
	if err := files.ReplaceFile(path, content); err != nil {
		return fmt.Errorf("writing into the work directory: %w", err)
	}
	return nil
}
