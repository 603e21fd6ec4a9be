// Package files reads and writes the few files of a work directory that are a step's,
// each bounded, and never through a link.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unicode/utf8"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// biggestFile bounds what is read of a file in the work directory, in bytes.
const biggestFile = 256 << 10

// A learnersFile is one file of a step as it was read: its text, or why what lies
// in its place is no text that can be judged.
type learnersFile struct {
	name string
	text string
	// unread is empty where the text was read; see the words of File.unwritten.
	unread *snapshot.Text
}

// ReadFiles reads the named files of a work directory, and no other: what else
// lies there is nobody's business, and costs nothing. What is not there is in
// neither map. A directory that does not exist yet holds none. The file system may
// be one that never answers, so the reading ends with the context.
func ReadFiles(ctx context.Context, directory string, names []string) (texts map[string]string, unread map[string]snapshot.Text, err error) {
	read := make(chan []learnersFile, 1)
	failed := make(chan error, 1)
	go func() {
		files, err := readEach(directory, names)
		if err != nil {
			failed <- err
			return
		}
		read <- files
	}()
	select {
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("the work directory %s gives no answer, so the disk or the mount that it is on must hang", directory)
	case err := <-failed:
		return nil, nil, err
	case files := <-read:
		texts = map[string]string{}
		for _, file := range files {
			if file.unread == nil {
				texts[file.name] = file.text
				continue
			}
			if unread == nil {
				unread = map[string]snapshot.Text{}
			}
			unread[file.name] = *file.unread
		}
		return texts, unread, nil
	}
}

func readEach(directory string, names []string) ([]learnersFile, error) {
	info, err := os.Stat(directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the work directory: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("the work directory %s is not a folder; name another one with LAB_WORKDIR=/path", directory)
	}
	var files []learnersFile
	for _, name := range names {
		content, unread := ReadFile(filepath.Join(directory, name))
		if content == nil && unread == nil {
			continue
		}
		file := learnersFile{name: name, text: string(bytes.ToValidUTF8(content, []byte(string(utf8.RuneError))))}
		if unread != nil {
			words := unread(name)
			file = learnersFile{name: name, unread: &words}
		}
		files = append(files, file)
	}
	return files, nil
}

// unreadReason says of a file, by its name, why it was not read.
type unreadReason func(name string) snapshot.Text

// ReadFile reads one regular file, through a symbolic link too, and no more of it
// than biggestFile. Nothing at all comes back where nothing is there.
func ReadFile(path string) (content []byte, unread unreadReason) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
		if _, err := os.Lstat(path); err != nil {
			return nil, nil
		}
		return nil, func(name string) snapshot.Text {
			return snapshot.TextOf("%s 은(는) 가리키는 곳이 없는 심볼릭 링크입니다.", "%s is a symbolic link that leads nowhere.", name)
		}
	}
	if err != nil {
		return nil, cannotBeRead(err)
	}
	if !info.Mode().IsRegular() {
		return nil, notAFile(info.Mode())
	}
	// By the time it is opened it may have become a pipe, on which a plain open
	// waits for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cannotBeRead(err)
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, notAFile(info.Mode())
	}
	// Some of what is called a regular file, in /proc say, waits for news. Where there
	// is no deadline to be had, reading does not wait either.
	_ = file.SetReadDeadline(time.Now().Add(time.Second))
	content, err = io.ReadAll(io.LimitReader(file, biggestFile+1))
	switch {
	case len(content) > biggestFile || err == nil && info.Size() > biggestFile:
		return nil, func(name string) snapshot.Text {
			return snapshot.TextOf("%s 파일이 %d KiB 보다 큽니다.", "%s is larger than %d KiB.", name, biggestFile>>10)
		}
	case err != nil:
		return nil, cannotBeRead(err)
	case encodingOf(content) != "":
		encoding := encodingOf(content)
		return nil, func(name string) snapshot.Text {
			return snapshot.TextOf("%s 파일이 %s 으로 저장되어 있는데, UTF-8 이어야 합니다.", "%s is saved as %s; it should be UTF-8.", name, encoding)
		}
	case bytes.IndexByte(content, 0) >= 0:
		return nil, func(name string) snapshot.Text {
			return snapshot.TextOf("%s 파일이 텍스트 파일이 아닙니다.", "%s is not a text file.", name)
		}
	}
	if content == nil {
		content = []byte{}
	}
	return content, nil
}

// cannotBeRead gives the cause without the path, which may be long and is known.
func cannotBeRead(err error) unreadReason {
	var errno syscall.Errno
	cause := err.Error()
	if errors.As(err, &errno) {
		cause = errno.Error()
	}
	return func(name string) snapshot.Text {
		return snapshot.TextOf("%s 파일을 읽을 수 없습니다: %s.", "%s cannot be read: %s.", name, cause)
	}
}

func notAFile(mode fs.FileMode) unreadReason {
	kind := kindOfFile(mode)
	return func(name string) snapshot.Text {
		return snapshot.Text{KO: fmt.Sprintf("%s 은(는) 파일이 아니라 %s입니다.", name, kind.KO),
			EN: fmt.Sprintf("%s is %s, not a file.", name, kind.EN)}
	}
}

// kindOfFile names what is not a regular file.
func kindOfFile(mode fs.FileMode) snapshot.Text {
	switch {
	case mode.IsDir():
		return snapshot.Text{KO: "폴더", EN: "a folder"}
	case mode&fs.ModeNamedPipe != 0:
		return snapshot.Text{KO: "이름 있는 파이프", EN: "a named pipe"}
	case mode&fs.ModeSocket != 0:
		return snapshot.Text{KO: "소켓", EN: "a socket"}
	case mode&fs.ModeDevice != 0:
		return snapshot.Text{KO: "장치", EN: "a device"}
	}
	return snapshot.Text{KO: "파일이 아닌 것", EN: "something that is no file"}
}

// encodingOf tells by its first bytes a text that is not in UTF-8, as an editor of Windows,
// PowerShell's redirection or iconv saves it; empty where it is none. Without a byte order
// mark, the zeros beside a letter of ASCII tell.
func encodingOf(content []byte) string {
	switch first := content[:min(4, len(content))]; {
	case bytes.Equal(first, []byte{0xff, 0xfe, 0, 0}), bytes.Equal(first, []byte{0, 0, 0xfe, 0xff}):
		return "UTF-32"
	case bytes.HasPrefix(first, []byte{0xff, 0xfe}), bytes.HasPrefix(first, []byte{0xfe, 0xff}):
		return "UTF-16"
	case len(first) < 4 || len(content)%2 != 0:
		return ""
	case isText(first[0]) && first[1] == 0 && isText(first[2]) && first[3] == 0,
		first[0] == 0 && isText(first[1]) && first[2] == 0 && isText(first[3]):
		return "UTF-16"
	case isText(first[0]) && first[1] == 0 && first[2] == 0 && first[3] == 0, first[0] == 0 && first[1] == 0 && first[2] == 0 && isText(first[3]):
		return "UTF-32"
	}
	return ""
}

func isText(b byte) bool { return b >= ' ' && b < 0x7f || b == '\n' || b == '\r' || b == '\t' }
