package images

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func silent(string) {}

func TestAnEntryIsMadeOnceForItsInputs(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cache := Cache{Dir: filepath.Join(t.TempDir(), "not", "there", "yet")}
	made := 0
	fill := func(_ context.Context, dir string) error {
		made++
		return os.WriteFile(filepath.Join(dir, "file"), []byte("whole"), 0o644)
	}
	first, took, err := cache.Entry(t.Context(), "thing", KeyOf("a", "b"), silent, fill)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically(">", 0))
	g.Expect(filepath.Join(first, "file")).To(BeARegularFile())

	again, took, err := cache.Entry(t.Context(), "thing", KeyOf("a", "b"), silent, fill)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(first))
	g.Expect(took).To(BeZero(), "a cached entry takes no time to build")
	g.Expect(made).To(Equal(1))

	other, _, err := cache.Entry(t.Context(), "thing", KeyOf("ab"), silent, fill)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).NotTo(Equal(first), "inputs that only run together are other inputs")
	g.Expect(made).To(Equal(2))
}

func TestAHalfMadeEntryIsNeverUsed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cache := Cache{Dir: t.TempDir()}
	k := KeyOf("x")

	// What a run leaves that was killed by SIGKILL in the middle.
	half := filepath.Join(cache.Dir, "thing-"+k.Short()+".half")
	g.Expect(os.MkdirAll(half, 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(half, "rubbish"), nil, 0o644)).To(Succeed())

	// What a run leaves that failed: nothing, and the cause is told.
	_, _, err := cache.Entry(t.Context(), "thing", k, silent, func(_ context.Context, dir string) error {
		g.Expect(filepath.Join(dir, "rubbish")).NotTo(BeAnExistingFile())
		return errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o644), errors.New("the compiler is ill"))
	})
	g.Expect(err).To(MatchError(ContainSubstring("thing: the compiler is ill")))
	g.Expect(half).NotTo(BeADirectory())

	done, _, err := cache.Entry(t.Context(), "thing", k, silent, func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, "good"), nil, 0o644)
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Join(done, "good")).To(BeARegularFile())
	g.Expect(filepath.Join(done, "file")).NotTo(BeAnExistingFile())
}

func TestAFullDiskIsReportedWithItsFix(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"ours":    &os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC},
		"a child": errors.New("mmdebstrap: exit status 1\n   tar: Cannot write: No space left on device"),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, _, told := Cache{Dir: t.TempDir()}.Entry(t.Context(), "thing", KeyOf(), silent, func(context.Context, string) error { return err })
			g.Expect(told).To(MatchError(ContainSubstring("is full; free some and run again")))
		})
	}
}

func TestTwoRunsDoNotBuildTheSame(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cache := Cache{Dir: t.TempDir()}
	var made, waited atomic.Int32
	inside := make(chan struct{})
	var both sync.WaitGroup
	build := func() {
		_, _, err := cache.Entry(t.Context(), "thing", KeyOf("x"), func(string) { waited.Add(1); close(inside) },
			func(context.Context, string) error {
				made.Add(1)
				<-inside // until the other one waits
				return nil
			})
		g.Expect(err).NotTo(HaveOccurred())
	}
	both.Go(build)
	both.Go(build)
	both.Wait()
	g.Expect(made.Load()).To(BeEquivalentTo(1))
	g.Expect(waited.Load()).To(BeEquivalentTo(1), "the one that waits says so")
}

func TestWaitingForAnotherRunCanBeInterrupted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cache := Cache{Dir: t.TempDir()}
	ctx, interrupt := context.WithCancel(t.Context())
	_, _, err := cache.Entry(t.Context(), "thing", KeyOf("x"), silent, func(context.Context, string) error {
		_, _, err := cache.Entry(ctx, "thing", KeyOf("x"), func(string) { interrupt() }, nil)
		return err
	})
	g.Expect(err).To(MatchError(context.Canceled))
}
