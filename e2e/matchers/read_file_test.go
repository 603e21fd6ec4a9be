package matchers

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Whatever lies where a step's file should, reading it ends at once and says what
// it is, in both languages. Only what is not there at all is said not to be there.
func TestWhatLiesInThePlaceOfAFile(t *testing.T) {
	t.Parallel()
	for what, wanted := range map[string]struct {
		make   func(t *testing.T, path string) error
		says   string // nothing where the text is read
		ko     string
		absent bool
	}{
		"a file":   {make: func(_ *testing.T, path string) error { return os.WriteFile(path, []byte("text\n"), 0o600) }},
		"an empty": {make: func(_ *testing.T, path string) error { return os.WriteFile(path, nil, 0o600) }},
		"a link to a file": {make: func(t *testing.T, path string) error {
			elsewhere := filepath.Join(t.TempDir(), "elsewhere")
			if err := os.WriteFile(elsewhere, []byte("text\n"), 0o600); err != nil {
				return err
			}
			return os.Symlink(elsewhere, path)
		}},
		"nothing":          {make: func(*testing.T, string) error { return nil }, absent: true},
		"a pipe":           {make: func(_ *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) }, says: "dns.txt is a named pipe, not a file.", ko: "이름 있는 파이프"},
		"a folder":         {make: func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) }, says: "dns.txt is a folder, not a file.", ko: "폴더"},
		"a device":         {make: func(_ *testing.T, path string) error { return os.Symlink("/dev/zero", path) }, says: "dns.txt is a device, not a file.", ko: "장치"},
		"a gap":            {make: func(_ *testing.T, path string) error { return os.Symlink(path+"-gone", path) }, says: "dns.txt is a symbolic link that leads nowhere.", ko: "심볼릭 링크"},
		"a loop":           {make: func(_ *testing.T, path string) error { return os.Symlink(path, path) }, says: "dns.txt is a symbolic link that leads nowhere.", ko: "심볼릭 링크"},
		"endless":          {make: func(_ *testing.T, path string) error { return os.Symlink("/proc/kallsyms", path) }, says: "dns.txt is larger than 256 KiB.", ko: "256 KiB 보다 큽니다"},
		"UTF-16":           {make: func(_ *testing.T, path string) error { return os.WriteFile(path, inUTF16("text\n"), 0o600) }, says: "dns.txt is saved as UTF-16; it should be UTF-8.", ko: "UTF-8"},
		"UTF-16, unmarked": {make: func(_ *testing.T, path string) error { return os.WriteFile(path, inUTF16("text\n")[2:], 0o600) }, says: "dns.txt is saved as UTF-16; it should be UTF-8.", ko: "UTF-8"},
		"big-endian UTF-16, unmarked": {make: func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte("\x00t\x00e\x00x\x00t"), 0o600)
		}, says: "dns.txt is saved as UTF-16; it should be UTF-8.", ko: "UTF-8"},
		"UTF-32": {make: func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte("\xff\xfe\x00\x00t\x00\x00\x00"), 0o600)
		}, says: "dns.txt is saved as UTF-32; it should be UTF-8.", ko: "UTF-8"},
		"UTF-32, unmarked": {make: func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte("t\x00\x00\x00e\x00\x00\x00"), 0o600)
		}, says: "dns.txt is saved as UTF-32; it should be UTF-8.", ko: "UTF-8"},
		"a program": {make: func(_ *testing.T, path string) error { return os.WriteFile(path, []byte("\x7fELF\x00"), 0o600) }, says: "dns.txt is not a text file.", ko: "텍스트"},
		"a gigabyte": {make: func(_ *testing.T, path string) error {
			file, err := os.Create(path)
			if err != nil {
				return err
			}
			defer file.Close()
			return file.Truncate(1 << 30)
		}, says: "dns.txt is larger than 256 KiB.", ko: "256 KiB 보다 큽니다"},
		"a socket": {make: func(t *testing.T, path string) error {
			listening, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { _ = listening.Close() })
			}
			return err
		}, says: "dns.txt is a socket, not a file.", ko: "소켓"},
		"a waiting file": {make: func(_ *testing.T, path string) error { return os.Symlink("/proc/kmsg", path) }},
	} {
		t.Run(what, func(t *testing.T) {
			directory, err := os.MkdirTemp("", "wd") // a socket's path must be short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(directory) })
			if err := wanted.make(t, filepath.Join(directory, "dns.txt")); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			texts, unread, err := files.ReadFiles(t.Context(), directory, []string{"dns.txt"})
			if took := time.Since(began); err != nil || took > 3*time.Second {
				t.Fatalf("after %s: %v", took, err)
			}
			if what == "a waiting file" { // the kernel's log, which this user may read or not; it ended, which is what counts
				return
			}
			if words := unread["dns.txt"]; words.EN != wanted.says || !strings.Contains(words.KO, wanted.ko) {
				t.Errorf("it says %q, %q", words.EN, words.KO)
			}
			if _, there := texts["dns.txt"]; there != (wanted.says == "" && !wanted.absent) {
				t.Errorf("it was read as %q", texts)
			}
			file := (&snapshot.Snapshot{Files: texts, FilesUnread: unread}).File("dns.txt")
			if r := missingFile(file); wanted.says != "" && (r == nil || r.EN != wanted.says) {
				t.Errorf("the judgement is %+v", r)
			} else if wanted.absent && r.EN != "There is no file dns.txt in the work directory." {
				t.Errorf("the judgement is %+v", r)
			}
		})
	}
}

func inUTF16(text string) []byte {
	content := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		content = binary.LittleEndian.AppendUint16(content, unit)
	}
	return content
}

// Root may read all, so that a learner may not is tried as another user.
func TestAFileThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if os.Getuid() == 0 {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		// The program itself must be reachable for that user.
		copied := filepath.Join(t.TempDir(), "lab.test")
		content, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(copied, content, 0o755)
		}
		for at := filepath.Dir(copied); err == nil && at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
			err = os.Chmod(at, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		again := exec.Command(copied, "-test.run=^TestAFileThatMayNotBeRead$", "-test.v")
		again.Dir = "/"
		again.Env = append(os.Environ(), "HOME=/tmp")
		again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if said, err := again.CombinedOutput(); err != nil || !strings.Contains(string(said), "--- PASS") {
			t.Fatalf("%v:\n%s", err, said)
		}
		return
	}
	if err := os.WriteFile(filepath.Join(directory, "dns.txt"), []byte("text\n"), 0); err != nil {
		t.Fatal(err)
	}
	_, unread, err := files.ReadFiles(t.Context(), directory, []string{"dns.txt"})
	if err != nil || unread["dns.txt"].EN != "dns.txt cannot be read: permission denied." {
		t.Errorf("%v, %v", unread, err)
	}
}

// What no step asks for costs nothing: neither its name nor its content is read.
func TestOtherFilesCostNothing(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for i := range 5_000 {
		if err := os.WriteFile(filepath.Join(directory, "other-"+strings.Repeat("x", i%40)+time.Duration(i).String()), []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(directory, "dns.txt"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	texts, unread, err := files.ReadFiles(t.Context(), directory, []string{"dns.txt", "labels.txt"})
	took := time.Since(began)
	if err != nil || len(texts) != 1 || len(unread) != 0 || took > 100*time.Millisecond {
		t.Errorf("after %s: %d files, %v, %v", took, len(texts), unread, err)
	}
	t.Logf("beside 5,000 other files reading took %s", took)
}

func TestAWorkDirectoryThatIsNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "work")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := files.ReadFiles(t.Context(), path, []string{"dns.txt"}); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // both ends of the choice may be ready; neither hangs
		_, _, _ = files.ReadFiles(ended, t.TempDir(), []string{"dns.txt"})
	}
}
