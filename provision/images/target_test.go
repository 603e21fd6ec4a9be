package images

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// What cannot be written is refused before anything of the set is read, and what is
// somebody's is not replaced.
func TestWhereNoArchiveCanBeSaved(t *testing.T) {
	t.Parallel()
	set, archive := saved(t)
	folder := t.TempDir()
	for name, one := range map[string]struct {
		make func(g *WithT, path string)
		says string
	}{
		"a folder": {func(g *WithT, path string) { g.Expect(os.Mkdir(path, 0o755)).To(Succeed()) }, "is a folder; name a file in it: .lab/bin/lab images save "},
		"somebody's file": {func(g *WithT, path string) { g.Expect(os.WriteFile(path, []byte("mine"), 0o644)).To(Succeed()) },
			"is there and is not an archive that lab images save wrote"},
		"a link":                 {func(g *WithT, path string) { g.Expect(os.Symlink(archive, path)).To(Succeed()) }, "is no ordinary file"},
		"a pipe":                 {func(g *WithT, path string) { g.Expect(syscall.Mkfifo(path, 0o600)).To(Succeed()) }, "is no ordinary file"},
		"no/such/folder/x":       {func(*WithT, string) {}, "the archive cannot be written: "},
		"../version/of/the/kern": {func(*WithT, string) {}, "the archive cannot be written: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(folder, name)
			one.make(g, path)
			before, err := os.ReadDir(folder)
			g.Expect(err).NotTo(HaveOccurred())
			read := 0
			err = Save(t.Context(), filepath.Dir(set.Archive), path, func(string) { read++ })
			g.Expect(err).To(MatchError(ContainSubstring(one.says)))
			g.Expect(read).To(BeZero(), "the set was read before it was refused")
			g.Expect(os.ReadDir(folder)).To(HaveLen(len(before)), "something was left")
		})
	}
	g := NewWithT(t)
	g.Expect(MaySave("/proc/images.tar")).To(MatchError(ContainSubstring("the archive cannot be written")))
	g.Expect(MaySave(archive)).To(Succeed(), "an archive of ours is replaced")
	fresh := filepath.Join(t.TempDir(), strings.Repeat("a", 100))
	g.Expect(MaySave(fresh)).To(Succeed())
	g.Expect(fresh).NotTo(BeAnExistingFile())
	g.Expect(Size(filepath.Dir(set.Archive))).To(BeNumerically(">", 3<<20))
}
