package report

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/settings"
)

const aVerdict = `{"schema": 1, "verdict": "partial", "reason": "another JobSet"}`

// sent is an archive as a machine sends it.
func sent(t *testing.T, entries ...tar.Header) *bytes.Buffer {
	t.Helper()
	archive := &bytes.Buffer{}
	writer := tar.NewWriter(archive)
	for _, entry := range entries {
		content := entry.PAXRecords["content"]
		entry.PAXRecords = nil
		entry.Size = int64(len(content))
		if err := writer.WriteHeader(&entry); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return archive
}

func sentFile(name, content string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o4777, PAXRecords: map[string]string{"content": content}}
}

// received is a folder of reports after an archive came, in which an earlier run's
// reports lay, and a program that is no report.
func received(t *testing.T, archive *bytes.Buffer) (left []string, err error) {
	t.Helper()
	reports := t.TempDir()
	for name, content := range map[string]string{"closing.txt": "of an earlier run", "evidence/preflight/events.txt": "of an earlier run", "bin/lab": "a program", reportsMark: "ours"} {
		path := filepath.Join(reports, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err = Receive(settings.Settings{Reports: reports}, archive)
	walked := filepath.WalkDir(reports, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == reportsMark {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode() != 0o644 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		content, _ := os.ReadFile(path)
		left = append(left, strings.TrimPrefix(path, reports+"/")+": "+string(content))
		return err
	})
	if walked != nil {
		t.Fatal(walked)
	}
	slices.Sort(left)
	return left, err
}

func TestReportsThatComeTakeThePlaceOfEarlierOnes(t *testing.T) {
	t.Parallel()
	left, err := received(t, sent(t,
		tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o700}, sentFile("./verdict.json", aVerdict),
		sentFile("./evidence/preflight/list.txt", "new"), sentFile("./written.json", "{}"), sentFile("./bin/lab", "another program"), sentFile("./evidence/other/x", "x")))
	if err != nil {
		t.Fatal(err)
	}
	if wanted := []string{"bin/lab: a program", "evidence/preflight/list.txt: new", "verdict.json: " + aVerdict}; !slices.Equal(left, wanted) {
		t.Errorf("there are %q, not %q", left, wanted)
	}
}

func TestWhatIsNoReportIsRefusedAndNothingIsTaken(t *testing.T) {
	t.Parallel()
	link := func(kind byte, name, to string) tar.Header {
		return tar.Header{Typeflag: kind, Name: name, Linkname: to}
	}
	verdict := sentFile("verdict.json", aVerdict)
	for name, of := range map[string]struct {
		archive *bytes.Buffer
		says    string
	}{
		"a path that leads out":           {sent(t, verdict, sentFile("../evil", "x")), "lies outside the reports"},
		"one that leads out in the midst": {sent(t, verdict, sentFile("evidence/../../evil", "x")), "lies outside the reports"},
		"an absolute path":                {sent(t, verdict, sentFile("/tmp/evil", "x")), "lies outside the reports"},
		"a link":                          {sent(t, verdict, link(tar.TypeSymlink, "evidence", "/tmp")), "neither a file nor a folder"},
		"a link, and a file through it":   {sent(t, verdict, link(tar.TypeSymlink, "evidence", ".."), sentFile("evidence/evil", "x")), "neither a file nor a folder"},
		"a hard link":                     {sent(t, verdict, link(tar.TypeLink, "closing.txt", "/etc/passwd")), "neither a file nor a folder"},
		"a FIFO":                          {sent(t, verdict, link(tar.TypeFifo, "closing.txt", "")), "neither a file nor a folder"},
		"a device":                        {sent(t, verdict, link(tar.TypeBlock, "closing.txt", "")), "neither a file nor a folder"},
		"a file twice":                    {sent(t, verdict, verdict), "file exists"},
		"no verdict":                      {sent(t, sentFile("closing.txt", "PASSED")), "no verdict"},
		"a verdict that is none":          {sent(t, sentFile("verdict.json", `{"verdict": "passed\nexit=0"}`)), "which is none"},
		"cut short":                       {bytes.NewBuffer(sent(t, verdict).Bytes()[:540]), "unexpected EOF"},
		"nothing at all":                  {&bytes.Buffer{}, "no verdict"},
	} {
		t.Run(name, func(t *testing.T) {
			left, err := received(t, of.archive)
			if err == nil || !strings.Contains(err.Error(), of.says) {
				t.Errorf("%v does not say %q", err, of.says)
			}
			if wanted := []string{"bin/lab: a program", "closing.txt: of an earlier run", "evidence/preflight/events.txt: of an earlier run"}; !slices.Equal(left, wanted) {
				t.Errorf("there are %q, not %q", left, wanted)
			}
		})
	}
}

func TestMoreThanReportsAreIsRefused(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if _, err := unpackFile(root, "closing.txt", strings.NewReader("four"), 3); err == nil || !strings.Contains(err.Error(), "more than 512 MiB") {
		t.Errorf("%v", err)
	}
	var many []tar.Header
	for range receivedEntries + 1 {
		many = append(many, tar.Header{Typeflag: tar.TypeDir, Name: "evidence/"})
	}
	if err := unpack(sent(t, many...), t.TempDir()); err == nil || !strings.Contains(err.Error(), "more than 20000 files") {
		t.Errorf("%v", err)
	}
}
