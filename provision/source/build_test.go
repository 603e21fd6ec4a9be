package source

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	. "github.com/onsi/gomega"
)

// The suite and the node's programs share what is compiled only where both pin
// the same version of what they share; and a version has one place only if the
// other place cannot drift.
func TestBothModulesPinTheSame(t *testing.T) {
	g := NewWithT(t)
	suite, err := openModule("../..")
	g.Expect(err).NotTo(HaveOccurred())
	programs, err := openModule("programs")
	g.Expect(err).NotTo(HaveOccurred())
	shared := 0
	for _, require := range suite.file.Require {
		if version, err := programs.version(require.Mod.Path); err == nil {
			shared++
			g.Expect(version).To(Equal(require.Mod.Version), "of %s, in go.mod and in provision/source/programs/go.mod", require.Mod.Path)
		}
	}
	g.Expect(shared).To(BeNumerically(">", 30))
}

func TestEveryProgramIsPinned(t *testing.T) {
	g := NewWithT(t)
	pinned, err := openModule("programs")
	g.Expect(err).NotTo(HaveOccurred())
	tools := map[string]bool{}
	for _, tool := range pinned.file.Tool {
		tools[tool.Path] = true
	}
	for _, p := range programs {
		if p.pkg[0] == '.' {
			g.Expect(filepath.Join("programs", p.pkg, "main.go")).To(BeARegularFile())
			continue
		}
		g.Expect(tools).To(HaveKey(p.pkg))
		delete(tools, p.pkg)
	}
	g.Expect(tools).To(BeEmpty(), "pinned as tools, but not built")
}

func TestWhatAProgramIsCalled(t *testing.T) {
	g := NewWithT(t)
	g.Expect(binaryName("go.etcd.io/etcd/server/v3")).To(Equal("server"))
	g.Expect(binaryName("sigs.k8s.io/kueue/cmd/kueue")).To(Equal("kueue"))
	g.Expect(binaryName("./kubernetes")).To(Equal("kubernetes"))
	g.Expect(binaryName("example.test/vax")).To(Equal("vax"))
}

func TestTheBuildsProgress(t *testing.T) {
	g := NewWithT(t)
	var last string
	var compiled int
	log := &buildLog{say: func(n int, name string) { compiled, last = n, name }}
	for _, piece := range []string{"go: downloading k8s.io/api v0.36.3\ninternal/gol", "ang\nfmt\n# k8s.io/kube", "rnetes\nx.go:1:2: no such thing\n"} {
		_, err := io.WriteString(log, piece)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(compiled).To(Equal(2))
	g.Expect(last).To(Equal("fmt"))
	g.Expect(log.problems.String()).To(Equal("# k8s.io/kubernetes\nx.go:1:2: no such thing\n"))
}

func TestAnImageOfFiles(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	g.Expect(os.WriteFile(program, []byte("binary"), 0o600)).To(Succeed())
	layer := filepath.Join(dir, "layer.tar")
	g.Expect(writeLayer(layer, []file{
		{Path: "etc/motd", Text: "first", Mode: 0o644},
		{Path: "etc/motd", Text: "second", Mode: 0o644},
		{Path: "bin/program", From: program, Mode: 0o755},
		{Path: "bin/link", Link: "program"},
		{Path: "tmp", Mode: fs.ModeDir | 0o777},
	})).To(Succeed())
	archive := filepath.Join(dir, "image.tar")
	g.Expect(saveArchive(archive, container{"example.test/thing:1", v1.Config{User: anyUser}, []string{layer}})).To(Succeed())

	image, err := tarball.ImageFromPath(archive, nil)
	g.Expect(err).NotTo(HaveOccurred())
	config, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.User).To(Equal("65532:65532"))
	g.Expect(config.Config.Env).To(ConsistOf(searchPath))
	layers, err := image.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(layers).To(HaveLen(1))
	content, err := layers[0].Uncompressed()
	g.Expect(err).NotTo(HaveOccurred())
	found := map[string]string{}
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(reader)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).NotTo(HaveKey(header.Name), "engines refuse a path that is there twice")
		found[header.Name] = fs.FileMode(header.Mode).String() + " " + string(text) + header.Linkname
	}
	g.Expect(found).To(Equal(map[string]string{
		"etc/motd": "-rw-r--r-- second", "bin/program": "-rwxr-xr-x binary", "bin/link": "-rwxrwxrwx program", "tmp/": "-rwxrwxrwx ",
	}))
}

func TestContainerdsConfiguration(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "config.toml")
	g.Expect(os.WriteFile(path, []byte("version = 2\n  sandbox_image = \"elsewhere/pause:3\"\n"), 0o644)).To(Succeed())
	g.Expect(containerdConfig(path)).To(Equal("version = 2\n  sandbox_image = \"lab.local/pause:1\"\n"))

	g.Expect(os.WriteFile(path, []byte("version = 3\n"), 0o644)).To(Succeed())
	_, err := containerdConfig(path)
	g.Expect(err).To(MatchError(ContainSubstring("0 times, not once")))
}
