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

// noteFile is what a finished entry says of its own files. No archive carries it.
const noteFile = ".files.json"

// note is what an entry's files were when they were last read whole, so that a
// damaged entry is made again and not believed.
//
// A file is believed without being read where its size, its inode and both its times
// are as noted and the machine has not started since: every write through the file
// system changes one of these. It is read again after each start of the machine (a
// power cut may lose what was written last) and whenever one of them differs. So the
// one damage that is seen late, at the next start, is that of a disk which gives
// other bytes than were written to it.
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

// boot names the present start of the machine; nothing where the system has no such name.
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

// intact is an error that says what is wrong with an entry. An entry without a note
// was finished by an earlier version of this program: it is taken as it is if it is
// sound, and noted. wanted are files that it must hold.
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

// compare compares the files with the note, reading those that may have changed, and
// tells whether it read any. The note is then of the present moment.
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

// sound is an error where an entry that was never noted is damaged in a way that its
// files show by themselves: one is missing, empty or cut short. A file of the right
// length with other bytes is not seen by it.
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
