package main

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestReplacesOnlyASocketNobodyServes(t *testing.T) {
	t.Run("left behind by a killed life", func(t *testing.T) {
		g := NewWithT(t)
		directory := socketDirectory(t)
		kubelet := startKubelet(t, directory)
		left, err := listenSocket(filepath.Join(directory, "fake-nvidia.com-gpu.sock"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left.Close()).To(Succeed())
		g.Expect(left.path).To(BeAnExistingFile())
		startPlugin(t, directory)
		g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
	})
	t.Run("not a socket", func(t *testing.T) {
		g := NewWithT(t)
		directory := socketDirectory(t)
		startKubelet(t, directory)
		file := filepath.Join(directory, "fake-nvidia.com-gpu.sock")
		g.Expect(os.WriteFile(file, []byte("mine"), 0o600)).To(Succeed())
		p := startPlugin(t, directory)
		g.Eventually(p.tie.state).Should(MatchError(ContainSubstring("is no socket: remove it")))
		p.stop()
		g.Expect(os.ReadFile(file)).To(BeEquivalentTo("mine"))
	})
}

func TestGivesWayToAnothersSocket(t *testing.T) {
	g := NewWithT(t)
	kubelet := startKubelet(t, socketDirectory(t))
	p := startPlugin(t, kubelet.directory)
	g.Eventually(p.tie.state).Should(Succeed())
	other, err := listenSocket(p.socketPath() + ".other")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = other.Close() })
	g.Expect(os.Rename(other.path, p.socketPath())).To(Succeed())
	g.Eventually(p.tie.state).Should(MatchError(ContainSubstring("another plugin is serving")))
	g.Eventually(kubelet.openStreams).Should(Equal(0))
	p.stop()
	g.Expect(sameLife("the other's socket", p.socketPath(), other.file)).To(Succeed())
}

func TestRemovesOnlyItsOwnSocket(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(socketDirectory(t), "own.sock")
	own, err := listenSocket(path)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = own.Close() })
	g.Expect(own.check()).To(Succeed())

	g.Expect(os.Rename(path, path+".kept")).To(Succeed())
	g.Expect(own.check()).To(MatchError(ContainSubstring("our socket is gone")))
	other, err := listenSocket(path)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = other.Close() })
	g.Expect(own.check()).To(MatchError(ContainSubstring("replaced by a new one")))
	own.remove()
	g.Expect(path).To(BeAnExistingFile())
	other.remove()
	g.Expect(path).NotTo(BeAnExistingFile())
}

func TestRefusesAPathThatFitsNoSocket(t *testing.T) {
	g := NewWithT(t)
	_, err := newPlugin("nvidia.com/gpu", "/"+strings.Repeat("d", 82), newDevices(4), log.New(io.Discard, "", 0))
	g.Expect(err).To(MatchError(ContainSubstring("pass a shorter --directory")))
	_, err = newPlugin("nvidia.com/gpu", "/"+strings.Repeat("d", 81), newDevices(4), log.New(io.Discard, "", 0))
	g.Expect(err).NotTo(HaveOccurred())
}
