package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"gsb.test/jobset-e2e/provision/engine/enginetest"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
)

func TestAnEngineIsTriedOnceAndLeavesNothing(t *testing.T) {
	enginetest.NeedStatic(t)
	enginetest.OnBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		read := enginetest.Install(t, enginetest.State{}, name)
		folder := filepath.Join(t.TempDir(), "nobody", "made", "this")
		e, err := engine.Find(t.Context(), folder)
		g.Expect(err).NotTo(HaveOccurred(), "a fresh machine")
		g.Expect(e.Name + " " + e.Version + " " + e.Tried).To(Equal(map[string]string{
			"docker": "docker 28.0.1 ran a privileged container", "podman": "podman 5.4.0 ran a privileged container"}[name]))
		now := read()
		g.Expect(now.Containers).To(BeEmpty())
		g.Expect(now.Images).To(BeEmpty())
		g.Expect(now.Calls[2]).To(MatchRegexp(`^%s run --detach --name lab-probe-[a-z0-9]{26} --privileged --network none --entrypoint /lab localhost/lab-probe-[a-z0-9]{26}:1 --version$`, name))
		g.Expect(now.Calls).To(HaveLen(6), "version, import, run, logs, rm, rmi")

		_, err = engine.Find(t.Context(), folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read().Calls).To(HaveLen(7), "it is asked for its version alone, as long as it is the same")
		t.Setenv("DOCKER_HOST", "unix:///another")
		_, err = engine.Find(t.Context(), folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read().Calls).To(HaveLen(map[string]int{"docker": 13, "podman": 8}[name]), "another daemon is tried")
	})
}

func TestATrialThatFailsLeavesNothing(t *testing.T) {
	enginetest.NeedStatic(t)
	enginetest.OnBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		read := enginetest.Install(t, enginetest.State{Fails: map[string]string{name + " run": "operation not permitted"}}, name)
		_, err := engine.Find(t.Context(), t.TempDir())
		g.Expect(err).To(MatchError(And(ContainSubstring("cannot run a privileged container"), ContainSubstring("operation not permitted"))))
		calls := read().Calls
		g.Expect(calls[len(calls)-2]).To(HavePrefix(name + " rm --force lab-probe-"))
		g.Expect(read().Images).To(BeEmpty())
	})
}

func TestAProofThatCannotBeWrittenRefusesNoEngine(t *testing.T) {
	enginetest.NeedStatic(t)
	g := NewWithT(t)
	enginetest.Install(t, enginetest.State{}, "docker")
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "engines"), nil, 0o644)).To(Succeed())
	e, err := engine.Find(t.Context(), folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.Name).To(Equal("docker"))
}

func TestTheSameEngineOnTheSecondRun(t *testing.T) {
	enginetest.NeedStatic(t)
	enginetest.NeedPodman(t)
	for _, c := range []struct {
		fails          map[string]string
		engine, why    string
		second, proofs string
	}{
		{nil, "docker", "", "; docker goes before podman, which LAB_ENGINE=podman takes", "docker"},
		{map[string]string{"docker version": "Cannot connect to the Docker daemon"}, "podman", "docker: no engine answers", "", "podman"},
		{map[string]string{"docker run": "operation not permitted"}, "podman", "docker 28.0.1: cannot run a privileged container, which a kind node is", "", "podman"},
	} {
		t.Run(c.engine+c.why, func(t *testing.T) {
			g := NewWithT(t)
			enginetest.Install(t, enginetest.State{Fails: c.fails}, engine.Names...)
			folder := t.TempDir()
			for range 3 {
				e, err := engine.Find(t.Context(), folder)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect([]string{e.Name, e.Why, e.Second}).To(Equal([]string{c.engine, c.why, c.second}))
			}
			g.Expect(os.ReadDir(filepath.Join(folder, "engines"))).To(HaveLen(1))
			g.Expect(filepath.Join(folder, "engines", c.proofs)).To(BeARegularFile())
		})
	}
}

func TestAnEngineThatIsNone(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("LAB_ENGINE", "rkt")
	_, err := engine.Find(t.Context(), t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("it can be docker or podman")))

	t.Setenv("LAB_ENGINE", "podman")
	t.Setenv("PATH", t.TempDir())
	_, err = engine.Find(t.Context(), t.TempDir())
	g.Expect(err).To(MatchError(And(ContainSubstring("podman: not installed"), ContainSubstring("apt-get install podman"))))
}

func TestMain(m *testing.M) { enginetest.Main(m) }
