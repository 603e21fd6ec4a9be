package images

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// sumsFile is the first part of an archive: the checksum of every other, in the
// form that sha256sum writes and checks.
const sumsFile = "SHA256SUMS"

// Save writes the set in dir as one archive: an uncompressed tar of its parts, the
// checksums first. to is replaced only by a complete archive. say gets the progress.
func Save(ctx context.Context, dir, to string, say func(string)) (err error) {
	if err := MaySave(to); err != nil {
		return err
	}
	names, err := partsOf(dir)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, name := range names {
		sum, err := sumOf(ctx, filepath.Join(dir, name), watched(say, "taking the checksum of "+name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
	}
	out, err := partOf(to)
	if err != nil {
		return err
	}
	part := out.Name()
	defer func() {
		if err != nil {
			if NoSpace(err) {
				err = fmt.Errorf("%w\n   the disk of %s is full; name a file elsewhere", err, filepath.Dir(to))
			}
			err = errors.Join(err, os.Remove(part))
		}
	}()
	archive := tar.NewWriter(out)
	err = add(archive, sumsFile, int64(sums.Len()), &sums)
	for _, name := range names {
		if err == nil {
			err = addFile(ctx, archive, filepath.Join(dir, name), watched(say, "writing "+name))
		}
	}
	if err = errors.Join(err, archive.Close(), out.Chmod(0o644), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(part, to)
}

func add(archive *tar.Writer, name string, size int64, content io.Reader) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

func addFile(ctx context.Context, archive *tar.Writer, path string, watch func(io.Reader, int64) io.Reader) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return add(archive, filepath.Base(path), info.Size(), while(ctx, watch(in, info.Size())))
}

func sumOf(ctx context.Context, path string, watch func(io.Reader, int64) io.Reader) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, while(ctx, watch(in, info.Size()))); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Load unpacks an archive into the cache, checks every part, and returns the set. fits
// is an error if a set is not for this checkout. An archive that does not fit, or with
// one changed byte, is refused as a whole.
func (c Cache) Load(ctx context.Context, from string, say func(string), fits func(Set) error) (Set, error) {
	in, err := os.Open(from)
	if err != nil {
		return Set{}, fmt.Errorf("the archive cannot be read: %w", err)
	}
	defer in.Close()
	a := &archive{name: from, tar: tar.NewReader(bufio.NewReaderSize(in, 1<<20))}
	if err := a.readSums(); err != nil {
		return Set{}, err
	}
	var description bytes.Buffer
	if err := a.part(ctx, setFile, &description, func(string) {}); err != nil {
		return Set{}, err
	}
	set, err := parse(description.Bytes())
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", from, err)
	}
	if err := fits(set); err != nil {
		return Set{}, fmt.Errorf("%s: %w", from, err)
	}
	dir, err := c.Replace(ctx, loadedName(set.Mode), Key{set.Inputs}, say, func(ctx context.Context, dir string) error {
		if err := os.WriteFile(filepath.Join(dir, setFile), description.Bytes(), 0o644); err != nil {
			return err
		}
		return a.unpack(ctx, dir, say)
	})
	if err != nil {
		return Set{}, err
	}
	return Read(dir)
}

// archive is one being read: its parts come in the order they were written in.
type archive struct {
	name string
	tar  *tar.Reader
	// sums are the checksums of the parts not yet read.
	sums map[string]string
	last string
}

func (a *archive) readSums() error {
	header, err := a.tar.Next()
	if err == nil && (header.Name != sumsFile || header.Size > 1<<20) {
		err = fmt.Errorf("it begins with %q, not with %s", header.Name, sumsFile)
	}
	if err != nil {
		return fmt.Errorf("%s is not an archive that lab images save wrote: %w", a.name, err)
	}
	a.sums, a.last = map[string]string{}, sumsFile
	lines := bufio.NewScanner(a.tar)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || len(sum) != 2*sha256.Size || name == "" || name != filepath.Base(name) {
			return a.damaged(sumsFile, fmt.Sprintf("it has the line %q", lines.Text()))
		}
		a.sums[name] = sum
	}
	if err := lines.Err(); err != nil {
		return a.damaged(sumsFile, err.Error())
	}
	return nil
}

// part reads the next part, which must be of that name, into out.
func (a *archive) part(ctx context.Context, name string, out io.Writer, say func(string)) error {
	header, err := a.tar.Next()
	if err != nil {
		return a.damaged("what follows "+a.last, err.Error())
	}
	if header.Name != name {
		return a.damaged(header.Name, "it stands where "+name+" should")
	}
	return a.read(ctx, header, out, say)
}

func (a *archive) read(ctx context.Context, header *tar.Header, out io.Writer, say func(string)) error {
	wanted, known := a.sums[header.Name]
	if !known {
		return a.damaged(header.Name, "it has no checksum in "+sumsFile)
	}
	hash := sha256.New()
	content := while(ctx, watched(say, "unpacking "+header.Name)(a.tar, header.Size))
	if _, err := io.Copy(io.MultiWriter(hash, out), content); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return a.damaged(header.Name, "the archive ends in the middle of it")
		}
		return fmt.Errorf("unpacking %s: %w", header.Name, err)
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found != wanted {
		return a.damaged(header.Name, fmt.Sprintf("its checksum is %.16s…, saved was %.16s…", found, wanted))
	}
	delete(a.sums, header.Name)
	a.last = header.Name
	return nil
}

// unpack reads what is left into a folder.
func (a *archive) unpack(ctx context.Context, dir string, say func(string)) error {
	for {
		header, err := a.tar.Next()
		if errors.Is(err, io.EOF) {
			for name := range a.sums {
				return a.damaged(name, "it is missing")
			}
			return nil
		}
		if err != nil {
			return a.damaged("what follows "+a.last, err.Error())
		}
		if err := a.toFile(ctx, header, dir, say); err != nil {
			return err
		}
	}
}

func (a *archive) toFile(ctx context.Context, header *tar.Header, dir string, say func(string)) error {
	// A name with a folder in it has no checksum, so it is refused before anything is written.
	out, err := os.Create(filepath.Join(dir, filepath.Base(header.Name)))
	if err != nil {
		return err
	}
	return errors.Join(a.read(ctx, header, out, say), out.Close())
}

func (a *archive) damaged(part, how string) error {
	return fmt.Errorf("%s is damaged in %s: %s\n   copy it again, or save it again: .lab/bin/lab images save", a.name, part, how)
}
