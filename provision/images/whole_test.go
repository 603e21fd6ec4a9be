package images

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// kept is a cache with one entry, a whole set; made counts how often it was made.
type kept struct {
	cache    Cache
	key      Key
	made     int
	reported []string
}

func keep(t *testing.T) *kept {
	t.Helper()
	k := &kept{key: KeyOf("inputs")}
	k.cache = Cache{Dir: t.TempDir(), Damaged: func(entry string, how error) { k.reported = append(k.reported, entry+": "+how.Error()) }}
	k.get(t)
	NewWithT(t).Expect(k.made).To(Equal(1))
	return k
}

// get gets the entry, making it where it is not there whole.
func (k *kept) get(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	dir, _, err := k.cache.Entry(t.Context(), "node", k.key, silent, func(_ context.Context, dir string) error {
		k.made++
		var archive bytes.Buffer
		out := tar.NewWriter(&archive)
		g.Expect(add(out, "etcd", 100_000, strings.NewReader(strings.Repeat("x", 100_000)))).To(Succeed())
		g.Expect(out.Close()).To(Succeed())
		for name, content := range map[string]string{"node.tar": archive.String(), "etcd": "a program",
			"jobset.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n", "kueue.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\n", "fake-gpu.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\n"} {
			g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644)).To(Succeed())
		}
		return Set{Mode: Source, Inputs: k.key.String(), Node: "n", Archive: "node.tar", JobSetManifest: "jobset.yaml", KueueManifest: "kueue.yaml",
			GPUManifest: "fake-gpu.yaml"}.Write(dir)
	}, "etcd")
	g.Expect(err).NotTo(HaveOccurred())
	return dir
}

// damages are what happens to files; each but the last shows by itself in a file that
// was never noted.
var damages = []struct {
	name, file string
	how        func(path string) error
	reported   string
	hidden     bool
}{
	{"a truncated archive", "node.tar", func(path string) error { return os.Truncate(path, 50_000) }, "node.tar has 50000 bytes, 101888 were written", false},
	{"an archive cut at a block", "node.tar", func(path string) error { return os.Truncate(path, 101_376) }, "node.tar has 101376 bytes", false},
	{"an empty manifest", "jobset.yaml", func(path string) error { return os.Truncate(path, 0) }, "jobset.yaml has 0 bytes", false},
	{"a truncated manifest", "jobset.yaml", func(path string) error { return os.Truncate(path, 40) }, "jobset.yaml has 40 bytes", false},
	{"a missing program", "etcd", os.Remove, "etcd is missing", false},
	{"a missing description", "set.json", os.Remove, "set.json is missing", false},
	{"a garbled description", "set.json", func(path string) error { return os.WriteFile(path, []byte("{\"mode\": "), 0o644) }, "set.json has 9 bytes", false},
	{"a folder in a file's place", "etcd", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, "etcd has", true},
	{"other bytes, the old time", "node.tar", func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteAt([]byte("y"), 60_000)
		return errors.Join(err, file.Close(), os.Chtimes(path, info.ModTime(), info.ModTime()))
	}, "node.tar is not what was written: its checksum is", true},
}

func TestADamagedEntryIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, damage := range damages {
		t.Run(damage.name, func(t *testing.T) {
			g := NewWithT(t)
			k := keep(t)
			dir := k.get(t)
			g.Expect(k.made).To(Equal(1), "a whole entry is taken")
			g.Expect(damage.how(filepath.Join(dir, damage.file))).To(Succeed())

			looking := k.cache
			looking.ReadOnly = true
			before, err := os.ReadFile(filepath.Join(dir, noteFile))
			g.Expect(err).NotTo(HaveOccurred())
			_, whole := looking.Find(t.Context(), "node", k.key)
			g.Expect(whole).To(Equal(false))
			g.Expect(os.ReadFile(filepath.Join(dir, noteFile))).To(Equal(before), "who only looks changes nothing")

			k.reported = nil
			k.get(t)
			g.Expect(k.made).To(Equal(2))
			g.Expect(k.reported).To(HaveEach(ContainSubstring(damage.reported)))
			g.Expect(k.reported).To(HaveEach(HavePrefix("node-" + k.key.Short() + ": ")))
			k.reported = nil
			_, err = Read(k.get(t))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k.made).To(Equal(2), "once is enough")
			g.Expect(k.reported).To(BeEmpty())
		})
	}
}

// What an earlier version of this program made has no note. A build takes many
// minutes, so it is taken over if it is sound.
func TestAnEntryOfAnEarlierVersionIsTakenOver(t *testing.T) {
	t.Parallel()
	unnoted := func(t *testing.T) (*kept, string) {
		k := keep(t)
		dir := k.get(t)
		NewWithT(t).Expect(os.Remove(filepath.Join(dir, noteFile))).To(Succeed())
		return k, dir
	}
	t.Run("sound", func(t *testing.T) {
		g := NewWithT(t)
		k, dir := unnoted(t)
		looking := k.cache
		looking.ReadOnly = true
		_, whole := looking.Find(t.Context(), "node", k.key)
		g.Expect(whole).To(Equal(true))
		g.Expect(filepath.Join(dir, noteFile)).NotTo(BeAnExistingFile(), "who only looks changes nothing")
		k.get(t)
		g.Expect(k.made).To(Equal(1))
		g.Expect(k.reported).To(BeEmpty())
		g.Expect(filepath.Join(dir, noteFile)).To(BeARegularFile())
	})
	for _, damage := range damages {
		if damage.hidden {
			continue
		}
		t.Run(damage.name, func(t *testing.T) {
			g := NewWithT(t)
			k, dir := unnoted(t)
			g.Expect(damage.how(filepath.Join(dir, damage.file))).To(Succeed())
			k.get(t)
			g.Expect(k.made).To(Equal(2))
			g.Expect(k.reported).To(HaveEach(ContainSubstring(damage.file)))
		})
	}
}

// A file is read again only where something says that it may have changed.
func TestWhenAFileIsReadAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	k := keep(t)
	dir := k.get(t)
	path := filepath.Join(dir, noteFile)
	// A note with a wrong checksum shows whether a file was read.
	alter := func(change func(n *note)) {
		content, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		var n note
		g.Expect(json.Unmarshal(content, &n)).To(Succeed())
		change(&n)
		g.Expect(n.write(dir)).To(Succeed())
	}
	found := func() bool {
		_, whole := k.cache.Find(t.Context(), "node", k.key)
		return whole
	}
	wrong := func(n *note) {
		file := n.Files["etcd"]
		file.SHA256 = strings.Repeat("0", 64)
		n.Files["etcd"] = file
	}
	alter(wrong)
	g.Expect(found()).To(Equal(true), "nothing has changed, so nothing is read")
	alter(func(n *note) { n.Boot = "an earlier start of the machine" })
	g.Expect(found()).To(Equal(false), "after a start of the machine all is read")

	k.get(t) // made again
	now := time.Now()
	g.Expect(os.Chtimes(filepath.Join(dir, "etcd"), now, now)).To(Succeed())
	g.Expect(found()).To(Equal(true), "another time alone is no damage")
	alter(wrong)
	g.Expect(found()).To(Equal(true), "and the new time was noted")

	g.Expect(os.WriteFile(path, []byte(`{"boot":`), 0o644)).To(Succeed())
	g.Expect(found()).To(Equal(false), "a note that cannot be read says nothing")
}

func TestNoArchiveHoldsTheNote(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	k := keep(t)
	to := filepath.Join(t.TempDir(), "images.tar")
	g.Expect(Save(t.Context(), k.get(t), to, silent)).To(Succeed())
	content, err := os.ReadFile(to)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Contains(content, []byte(noteFile))).To(Equal(false))
}
