package report

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// What another machine may send at most. A whole run with the evidence of its
// failures is a hundredth of it.
const (
	receivedBytes   = 512 << 20
	receivedEntries = 20_000
)

// Receive takes the reports that a run on another machine sent as a tar archive,
// and puts them in the place of an earlier run's. That machine is not trusted:
// what it sends is unpacked into a fresh folder, out of which nothing leads, and
// only reports are taken out of that. If anything is wrong with it, nothing is.
func Receive(s settings.Settings, archive io.Reader) error {
	if err := os.MkdirAll(s.Reports, 0o755); err != nil {
		return fmt.Errorf("making the folder of the reports: %w", err)
	}
	if err := claimReports(s); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(s.Reports, ".received-")
	if err != nil {
		return fmt.Errorf("making a folder for the reports that come: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := unpack(archive, fresh); err != nil {
		return fmt.Errorf("the reports that came are not taken: %w", err)
	}
	var verdict Verdict
	content, err := os.ReadFile(filepath.Join(fresh, filepath.Base(verdictPath(s))))
	if err == nil {
		err = json.Unmarshal(content, &verdict)
	}
	if err == nil && !slices.Contains([]string{passed, partial, Failed, notRun}, verdict.Verdict) {
		err = fmt.Errorf("it is %.40q, which is none", verdict.Verdict)
	}
	if err != nil {
		return fmt.Errorf("the reports that came are not taken, for they hold no verdict: %w", err)
	}
	for _, name := range sentNames(s, fresh) {
		if err := removeReports(s, name); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(fresh, name)); err != nil {
			continue // it did not come
		}
		err := os.MkdirAll(filepath.Dir(filepath.Join(s.Reports, name)), 0o755)
		if err == nil {
			err = os.Rename(filepath.Join(fresh, name), filepath.Join(s.Reports, name))
		}
		if err != nil {
			return fmt.Errorf("keeping the reports that came: %w", err)
		}
	}
	return nil
}

// sentNames are the names of all that a single run reports. What else lies in the
// folder, here or there, such as this project's own programs, is not taken.
func sentNames(s settings.Settings, fresh string) []string {
	names := []string{"verdict.json", "closing.txt", "junit.xml", "specs.json", "timeline.json", "snapshots", "files"}
	names = append(append(names, evidenceNames(s)...), evidenceNames(settings.Settings{Reports: fresh})...)
	slices.Sort(names)
	return slices.Compact(names)
}

// unpack writes the files and folders of an archive below a folder. An entry that
// is anything else, or that lies elsewhere, is an error.
func unpack(archive io.Reader, into string) error {
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	reader, left := tar.NewReader(archive), int64(receivedBytes)
	for entries := 0; ; entries++ {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		name := strings.TrimSuffix(entry.Name, "/")
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%.200q lies outside the reports", entry.Name)
		}
		if entries == receivedEntries {
			return fmt.Errorf("they are more than %d files", receivedEntries)
		}
		switch entry.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			left, err = unpackFile(root, name, reader, left)
		default:
			return fmt.Errorf("%.200q is neither a file nor a folder (its type is %q)", entry.Name, entry.Typeflag)
		}
		if err != nil {
			return fmt.Errorf("writing %.200q: %w", entry.Name, err)
		}
	}
}

// unpackFile writes one file that was not there before, of at most so many bytes,
// and returns how many more may come.
func unpackFile(root *os.Root, name string, content io.Reader, most int64) (left int64, err error) {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return most, err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return most, err
	}
	written, err := io.Copy(file, io.LimitReader(content, most+1))
	if err == nil && written > most {
		err = fmt.Errorf("the reports are more than %d MiB", receivedBytes>>20)
	}
	return most - written, errors.Join(err, file.Close())
}
