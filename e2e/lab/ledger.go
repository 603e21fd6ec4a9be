package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A ledger remembers which files of work directories this suite wrote, by path
// and by the hash of what was written, so that the next run takes away its own
// leavings and never a learner's work.
type ledger struct {
	path string
}

func (w *World) ledger() ledger { return ledger{filepath.Join(w.Settings.Reports, "written.json")} }

func (l ledger) read() (map[string]string, error) {
	content, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading which files an earlier run wrote: %w", err)
	}
	written := map[string]string{}
	if err := json.Unmarshal(content, &written); err != nil {
		return nil, fmt.Errorf("%s should tell which files an earlier run wrote, and cannot be read: %w; remove it", l.path, err)
	}
	return written, nil
}

func (l ledger) write(written map[string]string) error {
	content, err := json.MarshalIndent(written, "", "  ")
	if err == nil {
		err = os.WriteFile(l.path, append(content, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("noting which files this run writes: %w", err)
	}
	return nil
}

// note tells the ledger of a file before it is written: a run that is killed in
// between has promised too much, which harms nobody.
func (l ledger) note(path string, content []byte) error {
	written, err := l.read()
	if err != nil {
		return err
	}
	written[path] = digest(content)
	return l.write(written)
}

// strangers names those of the paths that exist and that this suite did not
// write, or that were changed since.
func (l ledger) strangers(paths []string) ([]string, error) {
	written, err := l.read()
	if err != nil {
		return nil, err
	}
	var strangers []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the work directory: %w", err)
		}
		if written[path] != digest(content) {
			strangers = append(strangers, path)
		}
	}
	return strangers, nil
}

// clear removes those of the paths that this suite wrote.
func (l ledger) clear(paths []string) error {
	written, err := l.read()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, ours := written[path]; !ours {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what an earlier run wrote: %w", err)
		}
		delete(written, path)
	}
	return l.write(written)
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
