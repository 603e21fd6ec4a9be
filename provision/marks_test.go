package provision

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestWhatIsNotOursStays holds that up and down refuse whatever has a lab's name and
// not our mark, name it, say what to type, and change nothing of it.
func TestWhatIsNotOursStays(t *testing.T) {
	named := func(name, cluster string) container {
		c := container{ID: "their-container", Name: "/" + name}
		c.State.Running = true
		c.Config.Labels = map[string]string{}
		if cluster != "" {
			c.Config.Labels[clusterLabel] = cluster
		}
		return c
	}
	for name, c := range map[string]struct {
		there fakeEngine
		says  []string
	}{
		"another's kind cluster": {
			fakeEngine{Containers: []container{named("mine-control-plane", "mine")}, Networks: []network{{ID: "n9", Name: "mine"}}},
			[]string{
				"the container mine-control-plane: it is a node of the kind cluster mine, without a mark of this project",
				"the network mine: it has no mark of this project",
				"rm --force --volumes mine-control-plane && ", "network rm mine", "LAB_NAME=mine-2",
			},
		},
		"a worker of another's kind cluster": {
			fakeEngine{Containers: []container{named("mine-worker", "mine")}}, []string{"the container mine-worker: it is a node of the kind cluster mine"},
		},
		"a container that kind did not make": {
			fakeEngine{Containers: []container{named("mine-control-plane", "")}}, []string{"the container mine-control-plane: it has no mark of this project"},
		},
		"a network": {
			fakeEngine{Networks: []network{{ID: "n9", Name: "mine", Labels: map[string]string{"by": "compose"}}}}, []string{"the network mine: it has no mark of this project"},
		},
		"another person's lab": {
			fakeEngine{
				Containers: []container{ourNode("mine", "them")},
				Networks:   []network{{ID: "n9", Name: "mine", Labels: map[string]string{ownerLabel: "them", madeLabel: "anna on box in /home/anna/suite"}}},
			},
			[]string{"it is the node of a lab made from another cache folder, /home/a/.cache/gsb-jobset", "it is the network of another lab, made by anna on box in /home/anna/suite"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, name string) {
				for _, marked := range []bool{false, true} { // a cache folder from which nothing was made yet, and another
					g := NewWithT(t)
					l := testLab(t, "mine")
					if marked {
						_, err := l.haveOwner()
						g.Expect(err).NotTo(HaveOccurred())
					}
					c.there.Volumes = []fakeVolume{{"v9", "mine-control-plane"}}
					read := fakeEngines(t, c.there, name)
					g.Expect(os.MkdirAll(filepath.Dir(l.Kubeconfig()), 0o755)).To(Succeed())
					g.Expect(os.WriteFile(l.Kubeconfig(), []byte("of the lab that stands"), 0o644)).To(Succeed())

					refusals := map[string]error{
						"down": l.remove(t.Context(), engine{name: name}),
						"up":   l.refuseForeign(t.Context(), engine{name: name}),
					}
					k, err := l.cluster(engine{name: name})
					g.Expect(err).NotTo(HaveOccurred())
					_, refusals["a lab that stands"] = l.inspect(t.Context(), k)
					for act, err := range refusals {
						var refused *foreign
						g.Expect(errors.As(err, &refused)).To(Equal(true), "%s: %v", act, err)
						g.Expect(errors.Is(err, ErrNotRemoved)).To(Equal(false), "to run it again would not help")
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
	onBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		l := testLab(t, "mine")
		id, err := l.haveOwner()
		g.Expect(err).NotTo(HaveOccurred())
		other := container{ID: "their-container", Name: "/mine-worker"}
		other.Config.Labels = map[string]string{clusterLabel: "mine"}
		read := fakeEngines(t, fakeEngine{
			Containers: []container{ourNode("mine", id), other},
			Networks:   []network{{ID: "n1", Name: "mine", Labels: map[string]string{ownerLabel: id}}},
		}, name)
		g.Expect(os.MkdirAll(filepath.Dir(l.recordFile()), 0o755)).To(Succeed())
		g.Expect(l.writeRecord(l.recordFile(), name)).To(Succeed())
		g.Expect(l.remove(t.Context(), engine{name: name})).To(MatchError(ContainSubstring("the container mine-worker")))
		g.Expect(l.recordFile()).NotTo(BeAnExistingFile(), "nothing of ours is left that a list should name")
		g.Expect(read().Containers).To(HaveExactElements(HaveField("ID", "their-container")))
		g.Expect(read().Networks).To(BeEmpty())
	})
}

// A network or a container that appears while a lab comes up is not taken for ours.
func TestWhatAppearsHalfWay(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		read := fakeEngines(t, fakeEngine{Networks: []network{{ID: "n9", Name: "mine"}}}, name)
		k := &kindCluster{name: "mine", engine: engine{name: name}, owner: "us", say: func(string) {}}
		_, err := k.Create(t.Context())
		g.Expect(err).To(MatchError(ContainSubstring("the network mine: it has no mark of this project")), "kind would take it as it is")
		g.Expect(read().Networks).To(HaveLen(1))
	})
}

// An interrupted Create takes the node away by its mark, also one that kind makes
// only then; another's of that name stays.
func TestTakingAwayWhileKindStillWorks(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		for _, owner := range []string{"us", "them"} {
			g := NewWithT(t)
			read := fakeEngines(t, fakeEngine{}, name)
			k := &kindCluster{name: "mine", engine: engine{name: name}, owner: "us", say: func(string) {}}
			ended := make(chan error, 1)
			later(t, 300*time.Millisecond, func(f *fakeEngine) { f.Containers = append(f.Containers, ourNode("mine", owner)) })
			time.AfterFunc(600*time.Millisecond, func() { ended <- errors.New("kind has given up") })
			err := k.takeAway(t.Context(), ended)
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
	fakeEngines(t, fakeEngine{Fails: map[string]string{"docker ps": "the daemon hangs"}}, "docker")
	k := &kindCluster{name: "mine", engine: engine{name: "docker"}, owner: "us", say: func(string) {}}
	bounded, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := k.takeAway(bounded, make(chan error)) // kind never ends
	g.Expect(err).To(MatchError(And(ContainSubstring("kind has not given up making the cluster mine"), ContainSubstring("the daemon hangs"))))
	g.Expect(errors.Is(err, ErrNotRemoved)).To(Equal(true), "the exit status must say that something may be left")
}

// In Podman another cache folder is another storage, where nothing of the lab is seen.
func TestTheKubeconfigOfALabOfAnotherCacheFolderStays(t *testing.T) {
	onBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		l := testLab(t, "mine")
		fakeEngines(t, fakeEngine{}, name)
		g.Expect(os.MkdirAll(filepath.Dir(l.Kubeconfig()), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(l.Kubeconfig(), nil, 0o600)).To(Succeed())
		g.Expect(l.remove(t.Context(), engine{name: name})).To(Succeed())
		g.Expect(l.Kubeconfig()).To(BeARegularFile())

		g.Expect(os.MkdirAll(filepath.Dir(l.recordFile()), 0o755)).To(Succeed())
		g.Expect(l.writeRecord(l.recordFile(), name)).To(Succeed())
		g.Expect(l.remove(t.Context(), engine{name: name})).To(Succeed())
		g.Expect(l.Kubeconfig()).NotTo(BeAnExistingFile())
		g.Expect(l.recordFile()).NotTo(BeAnExistingFile())
	})
}

func TestTheMarkOfACacheFolder(t *testing.T) {
	g := NewWithT(t)
	l := testLab(t, "x")
	g.Expect(l.owner()).To(BeEmpty(), "looking makes none")
	g.Expect(os.ReadDir(l.Folder)).To(BeEmpty())
	first, err := l.haveOwner()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(MatchRegexp("^[A-Z2-7]{26}$"))
	g.Expect(l.haveOwner()).To(Equal(first))
	g.Expect(os.ReadDir(l.Folder)).To(HaveLen(1), "nothing but the mark")
	g.Expect(testLab(t, "x").haveOwner()).NotTo(Equal(first))

	g.Expect(os.WriteFile(l.ownerFile(), nil, 0o644)).To(Succeed())
	_, err = l.haveOwner()
	g.Expect(err).To(MatchError(ContainSubstring("rm "+l.ownerFile())), "an empty mark would be everybody's")
}

func TestTheMarkIsMountedIntoTheNode(t *testing.T) {
	g := NewWithT(t)
	k := &kindCluster{name: "x", owner: "us", madeBy: "anna on box in /suite"}
	mark, err := k.writeMark(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mark.ContainerPath).To(Equal("/etc/gsb-jobset.owner/us"))
	g.Expect(mark.Readonly).To(Equal(true))
	g.Expect(os.ReadFile(mark.HostPath)).To(BeEquivalentTo("the lab x, made by anna on box in /suite\n"))
}
