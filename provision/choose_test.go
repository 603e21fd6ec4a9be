package provision

import (
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/engine/enginetest"
)

func TestALabIsSoughtInTheEngineItStandsIn(t *testing.T) {
	enginetest.NeedStatic(t)
	enginetest.NeedPodman(t)
	g := NewWithT(t)
	l := testLab(t, "x")
	release, err := l.Lock()
	g.Expect(err).NotTo(HaveOccurred())
	defer release()
	g.Expect(l.WriteRecord(l.RecordFile(), "podman")).To(Succeed())
	enginetest.Install(t, enginetest.State{}, engine.Names...)
	e, err := chooseEngine(t.Context(), l, l.Folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.String()).To(Equal("podman 5.4.0 (the lab is in it)"))

	t.Setenv("LAB_ENGINE", "docker")
	_, err = chooseEngine(t.Context(), l, l.Folder)
	g.Expect(err).To(MatchError(ContainSubstring("LAB_NAME=x LAB_ENGINE=podman make down")))

	t.Setenv("LAB_ENGINE", "")
	enginetest.Install(t, enginetest.State{Fails: map[string]string{"podman version": "no"}}, engine.Names...)
	_, err = chooseEngine(t.Context(), l, l.Folder)
	g.Expect(err).To(MatchError(And(ContainSubstring("the lab x is in podman, which does not work now"), ContainSubstring(l.RecordFile()))))
}
