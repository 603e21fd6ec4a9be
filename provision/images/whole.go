package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// noteFile is a finished entry's note of its files. No archive contains it.
const noteFile = ".files.json"

// note is the state of an entry's files when they were last read completely, so that a
// damaged entry is made again.
//
// A file with the size, inode and both times of the note is trusted without being
// read, as long as the machine has not restarted: every write through the file system
// changes one of these. It is read again after each restart (a power cut may lose the
// last writes) and when one of them differs. So only the damage of a disk that returns
// wrong bytes is seen late, at the next restart.
type note struct {
	Boot  string              `json:"boot"`
	Files map[string]fileNote `json:"files"`
}

type fileNote struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// State is the inode and the times.
	State string `json:"state"`
}

// boot identifies the present boot of the machine; empty if the system has no such id.
func boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // elsewhere than Linux there is none
	return strings.TrimSpace(string(id))
}

// takeNote reads every file of an entry and notes it in the entry.
func takeNote(ctx context.Context, dir string) error {
	taken := note{Boot: boot(), Files: map[string]fileNote{}}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == noteFile {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		sum, err := sumOf(ctx, path, unwatched)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		taken.Files[name] = fileNote{SHA256: sum, Size: info.Size(), State: stateOf(info)}
		return err
	})
	if err != nil {
		return fmt.Errorf("noting what the cache holds: %w", err)
	}
	return taken.write(dir)
}

func (n note) write(dir string) error {
	content, err := json.MarshalIndent(n, "", " ")
	if err != nil {
		return err
	}
	// Another run may read it, or write it, at this moment.
	file, err := os.CreateTemp(dir, noteFile+".*")
	if err != nil {
		return fmt.Errorf("noting what the cache holds: %w", err)
	}
	_, err = file.Write(append(content, '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, noteFile))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("noting what the cache holds: %w", err), os.Remove(file.Name()))
	}
	return nil
}

// intact is an error that describes the damage of an entry. An entry without a note,
// of an earlier version of this program, is accepted and noted if it is sound. wanted
// are files that it must hold.
func (c Cache) intact(ctx context.Context, dir string, wanted []string) error {
	content, err := os.ReadFile(filepath.Join(dir, noteFile))
	if errors.Is(err, fs.ErrNotExist) {
		if err := sound(dir, wanted); err != nil || c.ReadOnly {
			return err
		}
		return takeNote(ctx, dir)
	}
	var was note
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&was)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", noteFile, err)
	}
	for _, name := range wanted {
		if _, noted := was.Files[name]; !noted {
			return fmt.Errorf("%s was never there", name)
		}
	}
	read, err := was.compare(ctx, dir)
	if err != nil || !read || c.ReadOnly {
		return err
	}
	return was.write(dir)
}

// compare compares the files with the note and reads those that may have changed. It
// reports whether it read any; the note is then new.
func (n *note) compare(ctx context.Context, dir string) (read bool, err error) {
	now := boot()
	for name, was := range n.Files {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return read, fmt.Errorf("%s is missing", name)
		}
		if err != nil {
			return read, err
		}
		if !info.Mode().IsRegular() || info.Size() != was.Size {
			return read, fmt.Errorf("%s has %d bytes, %d were written", name, info.Size(), was.Size)
		}
		if n.Boot == now && stateOf(info) == was.State {
			continue
		}
		sum, err := sumOf(ctx, path, unwatched)
		if err != nil {
			return read, err
		}
		if sum != was.SHA256 {
			return read, fmt.Errorf("%s is not what was written: its checksum is %.16s…, not %.16s…", name, sum, was.SHA256)
		}
		read = true
		n.Files[name] = fileNote{SHA256: sum, Size: was.Size, State: stateOf(info)}
	}
	read = read || n.Boot != now
	n.Boot = now
	return read, nil
}

// sound is an error if an entry without a note is visibly damaged: a file is missing,
// empty or cut short. It does not see wrong bytes in a file of the right length.
func sound(dir string, wanted []string) error {
	for _, name := range wanted {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			return fmt.Errorf("%s is missing or empty", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".yaml") || e.Name() == setFile }) {
		if _, err := os.Stat(filepath.Join(dir, "oci")); err != nil { // what is no set lies with a layout
			if _, err := Read(dir); err != nil {
				return err
			}
		}
	}
	for _, entry := range entries {
		path, check := filepath.Join(dir, entry.Name()), wholeFile
		switch filepath.Ext(entry.Name()) {
		case ".tar":
			check = wholeTar
		case ".yaml":
			check = wholeYAML
		}
		if !entry.Type().IsRegular() {
			continue
		}
		if err := check(path); err != nil {
			return fmt.Errorf("%s: %w", entry.Name(), err)
		}
	}
	return nil
}
