package images

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// saved makes a small set and saves it.
func saved(t *testing.T) (Set, string) {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	set := Set{
		Mode: Source, Inputs: KeyOf("inputs").String(), Architecture: "amd64", Node: "localhost/lab-node:1", Archive: "node.tar",
		JobSetManifest: "jobset.yaml", KueueManifest: "kueue.yaml", GPUManifest: "fake-gpu.yaml", OwnNetwork: true,
		Kubernetes: "v1.36.3", JobSet: "v0.12.0", Kueue: "v0.19.2", From: map[string]string{"a": "sha256:b"},
	}
	for name, size := range map[string]int{"node.tar": 3 << 20, "jobset.yaml": 2000, "kueue.yaml": 5000, "fake-gpu.yaml": 100} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(rand.Uint32())
		}
		g.Expect(os.WriteFile(filepath.Join(dir, name), content, 0o644)).To(Succeed())
	}
	g.Expect(set.Write(dir)).To(Succeed())
	set, err := Read(dir)
	g.Expect(err).NotTo(HaveOccurred())
	to := filepath.Join(t.TempDir(), "images.tar")
	g.Expect(Save(t.Context(), dir, to, silent)).To(Succeed())
	return set, to
}

func anything(Set) error { return nil }

func TestASavedSetIsLoadedAsItWas(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	set, archive := saved(t)
	cache := Cache{Dir: filepath.Join(t.TempDir(), "new")}
	key := Key{set.Inputs}
	_, found, err := cache.Loaded(t.Context(), Source, key)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(false))

	for range 2 { // a second time replaces the first
		var said []string
		loaded, err := cache.Load(t.Context(), archive, func(s string) { said = append(said, s) }, anything)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(said).To(ContainElement("unpacking node.tar: 2 of 3 MB"))
		g.Expect(loaded.From).To(Equal(set.From))
		g.Expect(loaded.How()).To(Equal("from a loaded archive"))
		g.Expect(set.How()).To(Equal("from the cache"))
		for _, part := range []string{"node.tar", "jobset.yaml", "kueue.yaml", "fake-gpu.yaml"} {
			was, err := os.ReadFile(filepath.Join(filepath.Dir(set.Archive), part))
			g.Expect(err).NotTo(HaveOccurred())
			is, err := os.ReadFile(filepath.Join(filepath.Dir(loaded.Archive), part))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(was, is)).To(Equal(true), part)
		}
		again, found, err := cache.Loaded(t.Context(), Source, key)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).To(Equal(true))
		g.Expect(again).To(Equal(loaded))
	}
	_, found, err = cache.Loaded(t.Context(), Registry, key)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(false), "it is of one mode")
	_, found, err = cache.Loaded(t.Context(), Source, KeyOf("other inputs"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(false), "it is of one checkout's inputs")
}

func TestAnArchiveCanBeCheckedByHand(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	_, archive := saved(t)
	out, err := exec.Command("sh", "-c", `cd "$1" && tar xf "$2" && sha256sum -c SHA256SUMS`, "sh", t.TempDir(), archive).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	g.Expect(string(out)).To(ContainSubstring("node.tar: OK"))
}

// Wherever one byte of an archive is another, it is refused and the part is named;
// but for the filling between parts, which is nobody's.
func TestAFlippedByteIsRefused(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	_, archive := saved(t)
	good, err := os.ReadFile(archive)
	g.Expect(err).NotTo(HaveOccurred())
	flipped := filepath.Join(t.TempDir(), "flipped.tar")
	flip := func(at int) error {
		bad := bytes.Clone(good)
		bad[at] ^= 0x10
		g.Expect(os.WriteFile(flipped, bad, 0o644)).To(Succeed())
		cache := Cache{Dir: t.TempDir()}
		_, err := cache.Load(t.Context(), flipped, silent, anything)
		if err != nil {
			left, globErr := filepath.Glob(filepath.Join(cache.Dir, "*", "*"))
			g.Expect(globErr).NotTo(HaveOccurred())
			g.Expect(left).To(BeEmpty(), "nothing of a damaged archive stays")
		}
		return err
	}
	sums := bytes.Index(good, []byte("  set.json")) - 10
	g.Expect(flip(sums)).To(MatchError(ContainSubstring("is damaged in set.json: its checksum is")), "the checksum itself")
	g.Expect(flip(sums+14)).To(MatchError(ContainSubstring("is damaged in set.json")), "the name in the list")
	g.Expect(flip(bytes.Index(good, []byte("v0.12.0")))).To(MatchError(ContainSubstring("is damaged in set.json")))
	g.Expect(flip(bytes.LastIndex(good, []byte("node.tar\x00")) + 5000)).To(MatchError(And(
		ContainSubstring("is damaged in node.tar: its checksum is"), ContainSubstring(".lab/bin/lab images save"))))
	g.Expect(flip(bytes.LastIndex(good, []byte("node.tar\x00")))).To(MatchError(ContainSubstring("is damaged in what follows")), "a header")
	g.Expect(flip(bytes.LastIndex(good, []byte("jobset.yaml\x00")) + 1000)).To(MatchError(ContainSubstring("is damaged in jobset.yaml")))
}

func TestArchivesThatAreNone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	_, archive := saved(t)
	good, err := os.ReadFile(archive)
	g.Expect(err).NotTo(HaveOccurred())
	half := filepath.Join(t.TempDir(), "half.tar")
	load := func(content []byte) error {
		g.Expect(os.WriteFile(half, content, 0o644)).To(Succeed())
		_, err := Cache{Dir: t.TempDir()}.Load(t.Context(), half, silent, anything)
		return err
	}
	g.Expect(load(good[:len(good)/2])).To(MatchError(ContainSubstring("is damaged in node.tar: the archive ends in the middle of it")))
	g.Expect(load(good[:bytes.LastIndex(good, []byte("kueue.yaml\x00"))])).To(MatchError(MatchRegexp(`is damaged in (kueue|node)\.(yaml|tar): it is missing`)))
	for _, none := range []string{"", "not a tar", strings.Repeat("\x00", 2048)} {
		g.Expect(load([]byte(none))).To(MatchError(ContainSubstring("is not an archive that lab images save wrote")))
	}
	_, err = Cache{Dir: t.TempDir()}.Load(t.Context(), "/no/such/file", silent, anything)
	g.Expect(err).To(MatchError(fs.ErrNotExist))

	why := errors.New("it is for machines of arm64")
	cache := Cache{Dir: t.TempDir()}
	_, err = cache.Load(t.Context(), archive, silent, func(Set) error { return why })
	g.Expect(err).To(MatchError(why))
	g.Expect(filepath.Glob(filepath.Join(cache.Dir, "*"))).To(BeEmpty(), "what does not fit is not unpacked")
}

func TestSavingCanBeInterrupted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	set, archive := saved(t)
	ctx, interrupt := context.WithCancel(t.Context())
	to := filepath.Join(t.TempDir(), "images.tar")
	err := Save(ctx, filepath.Dir(set.Archive), to, func(said string) {
		if strings.HasPrefix(said, "writing node.tar") {
			interrupt()
		}
	})
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(to), "*"))).To(BeEmpty(), "half an archive is none")
	_, err = Cache{Dir: t.TempDir()}.Load(ctx, archive, silent, anything)
	g.Expect(err).To(MatchError(context.Canceled))
}

func TestASetWhoseFilesAreGone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	set, _ := saved(t)
	dir := filepath.Dir(set.Archive)
	g.Expect(os.Remove(set.Archive)).To(Succeed())
	_, err := Read(dir)
	g.Expect(err).To(MatchError(And(ContainSubstring("a part of the image set is gone"), ContainSubstring("delete "+dir))))
	g.Expect(os.WriteFile(filepath.Join(dir, setFile), []byte(`{"mode":"source","colour":"red"}`), 0o644)).To(Succeed())
	_, err = Read(dir)
	g.Expect(err).To(MatchError(ContainSubstring(`unknown field "colour"`)))
	g.Expect(os.WriteFile(filepath.Join(dir, setFile), []byte(`{}`), 0o644)).To(Succeed())
	_, err = Read(dir)
	g.Expect(err).To(MatchError(ContainSubstring("not the description of an image set")))
}
