package provision

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/engine/enginetest"
	"gsb.test/jobset-e2e/provision/kindcluster"
)

// TestWhatIsNotOursStays holds that up and down refuse whatever has a lab's name and
// not our mark, name it, say what to type, and change nothing of it.
func TestWhatIsNotOursStays(t *testing.T) {
	named := func(name, cluster string) engine.Container {
		c := engine.Container{ID: "their-container", Name: "/" + name}
		c.State.Running = true
		c.Config.Labels = map[string]string{}
		if cluster != "" {
			c.Config.Labels[engine.ClusterLabel] = cluster
		}
		return c
	}
	for name, c := range map[string]struct {
		there enginetest.State
		says  []string
	}{
		"another's kind cluster": {
			enginetest.State{Containers: []engine.Container{named("mine-control-plane", "mine")}, Networks: []engine.Network{{ID: "n9", Name: "mine"}}},
			[]string{
				"the container mine-control-plane: it is a node of the kind cluster mine, without a mark of this project",
				"the network mine: it has no mark of this project",
				"rm --force --volumes mine-control-plane && ", "network rm mine", "LAB_NAME=mine-2",
			},
		},
		"a worker of another's kind cluster": {
			enginetest.State{Containers: []engine.Container{named("mine-worker", "mine")}}, []string{"the container mine-worker: it is a node of the kind cluster mine"},
		},
		"a container that kind did not make": {
			enginetest.State{Containers: []engine.Container{named("mine-control-plane", "")}}, []string{"the container mine-control-plane: it has no mark of this project"},
		},
		"a network": {
			enginetest.State{Networks: []engine.Network{{ID: "n9", Name: "mine", Labels: map[string]string{"by": "compose"}}}}, []string{"the network mine: it has no mark of this project"},
		},
		"another person's lab": {
			enginetest.State{
				Containers: []engine.Container{enginetest.OurNode("mine", "them")},
				Networks:   []engine.Network{{ID: "n9", Name: "mine", Labels: map[string]string{engine.OwnerLabel: "them", engine.MadeLabel: "anna on box in /home/anna/suite"}}},
			},
			[]string{"it is the node of a lab made from another cache folder, /home/a/.cache/gsb-jobset", "it is the network of another lab, made by anna on box in /home/anna/suite"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.OnBoth(t, func(t *testing.T, name string) {
				for _, marked := range []bool{false, true} { // a cache folder from which nothing was made yet, and another
					g := NewWithT(t)
					l := testLab(t, "mine")
					if marked {
						_, err := l.EnsureOwner()
						g.Expect(err).NotTo(HaveOccurred())
					}
					c.there.Volumes = []enginetest.Volume{{Name: "v9", Label: "mine-control-plane"}}
					read := enginetest.Install(t, c.there, name)
					g.Expect(os.MkdirAll(filepath.Dir(l.Kubeconfig()), 0o755)).To(Succeed())
					g.Expect(os.WriteFile(l.Kubeconfig(), []byte("of the lab that stands"), 0o644)).To(Succeed())

					refusals := map[string]error{
						"down": remove(t.Context(), l, engine.Engine{Name: name}),
						"up":   refuseForeign(t.Context(), l, engine.Engine{Name: name}),
					}
					k, err := cluster(l, engine.Engine{Name: name})
					g.Expect(err).NotTo(HaveOccurred())
					_, refusals["a lab that stands"] = inspect(t.Context(), l, k)
					for act, err := range refusals {
						var refused *kindcluster.Foreign
						g.Expect(errors.As(err, &refused)).To(Equal(true), "%s: %v", act, err)
						g.Expect(errors.Is(err, kindcluster.ErrNotRemoved)).To(Equal(false), "to run it again would not help")
						for _, said := range c.says {
							g.Expect(err).To(MatchError(ContainSubstring(said)), act)
						}
					}
					now := read()
					g.Expect(now.Containers).To(HaveLen(len(c.there.Containers)))
					g.Expect(now.Networks).To(HaveLen(len(c.there.Networks)))
					g.Expect(now.Volumes).To(HaveLen(1))
					g.Expect(strings.Join(now.Calls, "\n")).NotTo(MatchRegexp(`(?m)^\w+ (kill|rm|exec|network rm|volume rm)`), "nothing is done to it")
					g.Expect(l.Kubeconfig()).To(BeARegularFile())
				}
			})
		})
	}
}

// What is ours goes although something beside it is not.
func TestOursGoesAndTheOtherStays(t *testing.T) {
	enginetest.OnBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		l := testLab(t, "mine")
		id, err := l.EnsureOwner()
		g.Expect(err).NotTo(HaveOccurred())
		other := engine.Container{ID: "their-container", Name: "/mine-worker"}
		other.Config.Labels = map[string]string{engine.ClusterLabel: "mine"}
		read := enginetest.Install(t, enginetest.State{
			Containers: []engine.Container{enginetest.OurNode("mine", id), other},
			Networks:   []engine.Network{{ID: "n1", Name: "mine", Labels: map[string]string{engine.OwnerLabel: id}}},
		}, name)
		g.Expect(os.MkdirAll(filepath.Dir(l.RecordFile()), 0o755)).To(Succeed())
		g.Expect(l.WriteRecord(l.RecordFile(), name)).To(Succeed())
		g.Expect(remove(t.Context(), l, engine.Engine{Name: name})).To(MatchError(ContainSubstring("the container mine-worker")))
		g.Expect(l.RecordFile()).NotTo(BeAnExistingFile(), "nothing of ours is left that a list should name")
		g.Expect(read().Containers).To(HaveExactElements(HaveField("ID", "their-container")))
		g.Expect(read().Networks).To(BeEmpty())
	})
}

// In Podman another cache folder is another storage, where nothing of the lab is seen.
func TestTheKubeconfigOfALabOfAnotherCacheFolderStays(t *testing.T) {
	enginetest.OnBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		l := testLab(t, "mine")
		enginetest.Install(t, enginetest.State{}, name)
		g.Expect(os.MkdirAll(filepath.Dir(l.Kubeconfig()), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(l.Kubeconfig(), nil, 0o600)).To(Succeed())
		g.Expect(remove(t.Context(), l, engine.Engine{Name: name})).To(Succeed())
		g.Expect(l.Kubeconfig()).To(BeARegularFile())

		g.Expect(os.MkdirAll(filepath.Dir(l.RecordFile()), 0o755)).To(Succeed())
		g.Expect(l.WriteRecord(l.RecordFile(), name)).To(Succeed())
		g.Expect(remove(t.Context(), l, engine.Engine{Name: name})).To(Succeed())
		g.Expect(l.Kubeconfig()).NotTo(BeAnExistingFile())
		g.Expect(l.RecordFile()).NotTo(BeAnExistingFile())
	})
}
