package kindcluster

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/engine/enginetest"
)

// A network or a container that appears while a lab comes up is not taken for ours.
func TestWhatAppearsHalfWay(t *testing.T) {
	enginetest.OnBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		read := enginetest.Install(t, enginetest.State{Networks: []engine.Network{{ID: "n9", Name: "mine"}}}, name)
		k := &Cluster{Name: "mine", Engine: engine.Engine{Name: name}, Owner: "us", Say: func(string) {}}
		_, err := k.Create(t.Context())
		g.Expect(err).To(MatchError(ContainSubstring("the network mine: it has no mark of this project")), "kind would take it as it is")
		g.Expect(read().Networks).To(HaveLen(1))
	})
}

// An interrupted Create takes the node away by its mark, also one that kind makes
// only then; another's of that name stays.
func TestTakingAwayWhileKindStillWorks(t *testing.T) {
	enginetest.OnBoth(t, func(t *testing.T, name string) {
		for _, owner := range []string{"us", "them"} {
			g := NewWithT(t)
			read := enginetest.Install(t, enginetest.State{}, name)
			k := &Cluster{Name: "mine", Engine: engine.Engine{Name: name}, Owner: "us", Say: func(string) {}}
			ended := make(chan error, 1)
			enginetest.Later(t, 300*time.Millisecond, func(f *enginetest.State) { f.Containers = append(f.Containers, enginetest.OurNode("mine", owner)) })
			time.AfterFunc(600*time.Millisecond, func() { ended <- errors.New("kind has given up") })
			err := k.destroyUntilEnded(t.Context(), ended)
			if owner == "us" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(read().Containers).To(BeEmpty())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring("made from another cache folder")))
				g.Expect(read().Containers).To(HaveLen(1))
			}
		}
	})
}

func TestTakingAwayEnds(t *testing.T) {
	g := NewWithT(t)
	enginetest.Install(t, enginetest.State{Fails: map[string]string{"docker ps": "the daemon hangs"}}, "docker")
	k := &Cluster{Name: "mine", Engine: engine.Engine{Name: "docker"}, Owner: "us", Say: func(string) {}}
	bounded, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond) // before it is tried again
	defer cancel()
	err := k.destroyUntilEnded(bounded, make(chan error)) // kind never ends
	g.Expect(err).To(MatchError(And(ContainSubstring("kind has not given up making the cluster mine"), ContainSubstring("the daemon hangs"))))
	g.Expect(errors.Is(err, ErrNotRemoved)).To(Equal(true), "the exit status must say that something may be left")
}
