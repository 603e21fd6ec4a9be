package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// A fileRecord remembers which files of work directories this suite wrote, by path
// and by the hash of what was written, so that the next run takes away its own
// leavings and never a learner's work.
type fileRecord struct {
	path string
}

func FileRecordOf(w *cluster.Cluster) fileRecord {
	return fileRecord{filepath.Join(w.Settings.Reports, settings.LedgerName)}
}

func (l fileRecord) read() (map[string]string, error) {
	content, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading which files an earlier run wrote: %w", err)
	}
	written := map[string]string{}
	if err := json.Unmarshal(content, &written); err != nil {
		return nil, fmt.Errorf("%s should say which files an earlier run wrote, and cannot be read: %w; remove it", l.path, err)
	}
	if written == nil { // the file says null
		written = map[string]string{}
	}
	return written, nil
}

func (l fileRecord) write(written map[string]string) error {
	content, err := json.MarshalIndent(written, "", "  ")
	if err == nil {
		err = files.ReplaceFile(l.path, append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("noting which files this run writes: %w", err)
	}
	return nil
}

// key is what the ledger calls a path, from wherever a run was started.
func key(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// note records a file before it is written: a run that is killed in
// between has promised too much, which harms nobody.
func (l fileRecord) note(path string, content []byte) error {
	written, err := l.read()
	if err != nil {
		return err
	}
	written[key(path)] = text.Digest(content)
	return l.write(written)
}

// Unmanaged names those of the paths where something is that this suite did not
// write, or that was changed since.
func (l fileRecord) Unmanaged(paths []string) ([]string, error) {
	written, err := l.read()
	if err != nil {
		return nil, err
	}
	var others []string
	for _, path := range paths {
		sum, there, err := files.DigestAt(path)
		if err != nil {
			return nil, err
		}
		if there && (sum == "" || written[key(path)] != sum) {
			others = append(others, path)
		}
	}
	return others, nil
}

// Clear removes those of the paths that this suite wrote and nobody changed since.
func (l fileRecord) Clear(paths []string) error {
	written, err := l.read()
	if err != nil {
		return err
	}
	for _, path := range paths {
		noted, ours := written[key(path)]
		if !ours {
			continue
		}
		sum, there, err := files.DigestAt(path)
		if err == nil && there && sum == noted {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what an earlier run wrote: %w", err)
		}
		delete(written, key(path))
	}
	return l.write(written)
}
