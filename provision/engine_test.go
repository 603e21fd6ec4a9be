package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func haveImage(name string) func(context.Context, *kindCluster) (string, error) {
	return func(ctx context.Context, k *kindCluster) (string, error) {
		loaded, err := k.engine.haveImage(ctx, name, "/archive.tar")
		return fmt.Sprintf("loaded: %t", loaded), err
	}
}

// TestEngineCalls holds, for both engines, with what an engine is called and what is
// made of its answer.
func TestEngineCalls(t *testing.T) {
	node := ourNode("x", "us")
	state := fakeEngine{
		Containers: []container{node},
		Networks:   []network{{ID: "n1", Name: "x", Labels: map[string]string{ownerLabel: "us"}}, {ID: "n2", Name: "xy"}},
		Volumes:    []fakeVolume{{"v1", "x-control-plane"}, {"v2", "y-control-plane"}},
		Images:     []string{"node:1"},
	}
	find := []string{
		"ps --all --quiet --no-trunc --filter name=^x-control-plane$",
		"ps --all --quiet --no-trunc --filter label=io.x-k8s.kind.cluster=x",
		"inspect --type container our-node",
		"network ls --no-trunc --format {{.ID}} {{.Name}}",
		"network inspect n1",
	}
	for _, call := range []struct {
		name string
		do   func(context.Context, *kindCluster) (string, error)
		// calls are those of both engines; podman those that Podman gets besides.
		calls, podman []string
		answer        string
	}{
		{
			name:  "exec",
			do:    func(ctx context.Context, k *kindCluster) (string, error) { return k.exec(ctx, "cat", "/kind/version") },
			calls: []string{"exec x-control-plane cat /kind/version"},
		},
		{
			name: "survey",
			do: func(ctx context.Context, k *kindCluster) (string, error) {
				found, err := k.survey(ctx)
				return fmt.Sprintf("%d node, %d network", len(found.containers), len(found.networks)), err
			},
			calls: find, answer: "1 node, 1 network",
		},
		{
			name: "network",
			do: func(ctx context.Context, k *kindCluster) (string, error) {
				k.name = "z"
				return "", k.createNetwork(ctx)
			},
			calls: []string{"network create --driver bridge --label gsb-jobset.test/owner=us --label gsb-jobset.test/made-by=a on b z"},
		},
		{
			name:   "destroy",
			do:     func(ctx context.Context, k *kindCluster) (string, error) { return "", k.Destroy(ctx) },
			calls:  append(append([]string{}, find...), "kill our-node", "rm --force --volumes our-node"),
			podman: []string{"volume ls --quiet --filter label=x-control-plane", "volume rm v1"},
		},
		{
			name:   "node image that is there",
			do:     haveImage("node:1"),
			calls:  []string{"image inspect --format {{.Id}} node:1"},
			answer: "loaded: false",
		},
		{
			name:   "node image that is not",
			do:     haveImage("node:2"),
			calls:  []string{"image inspect --format {{.Id}} node:2", "load --quiet --input /archive.tar"},
			answer: "loaded: true",
		},
	} {
		t.Run(call.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, name string) {
				g := NewWithT(t)
				read := fakeEngines(t, state, name)
				k := &kindCluster{name: "x", image: "node:2", engine: engine{name: name}, owner: "us", madeBy: "a on b", say: func(string) {}}
				answer, err := call.do(t.Context(), k)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(answer).To(Equal(call.answer), "what an engine warns of is no part of its answer")
				wanted := append([]string{}, call.calls...)
				if name == "podman" {
					wanted = append(wanted, call.podman...)
				}
				if call.name == "destroy" {
					wanted = append(wanted, "network rm n1")
				}
				for i := range wanted {
					wanted[i] = name + " " + wanted[i]
				}
				g.Expect(read().Calls).To(Equal(wanted))
			})
		})
	}
}

func TestAnEngineIsTriedOnceAndLeavesNothing(t *testing.T) {
	needStatic(t)
	onBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		read := fakeEngines(t, fakeEngine{}, name)
		folder := filepath.Join(t.TempDir(), "nobody", "made", "this")
		e, err := findEngine(t.Context(), folder)
		g.Expect(err).NotTo(HaveOccurred(), "a fresh machine")
		g.Expect(e.name + " " + e.version + " " + e.tried).To(Equal(map[string]string{
			"docker": "docker 28.0.1 ran a privileged container", "podman": "podman 5.4.0 ran a privileged container"}[name]))
		now := read()
		g.Expect(now.Containers).To(BeEmpty())
		g.Expect(now.Images).To(BeEmpty())
		g.Expect(now.Calls[2]).To(MatchRegexp(`^%s run --detach --name lab-probe-[a-z0-9]{26} --privileged --network none --entrypoint /lab localhost/lab-probe-[a-z0-9]{26}:1 --version$`, name))
		g.Expect(now.Calls).To(HaveLen(6), "version, import, run, logs, rm, rmi")

		_, err = findEngine(t.Context(), folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read().Calls).To(HaveLen(7), "it is asked for its version alone, as long as it is the same")
		t.Setenv("DOCKER_HOST", "unix:///another")
		_, err = findEngine(t.Context(), folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read().Calls).To(HaveLen(map[string]int{"docker": 13, "podman": 8}[name]), "another daemon is tried")
	})
}

func TestATrialThatFailsLeavesNothing(t *testing.T) {
	needStatic(t)
	onBoth(t, func(t *testing.T, name string) {
		g := NewWithT(t)
		read := fakeEngines(t, fakeEngine{Fails: map[string]string{name + " run": "operation not permitted"}}, name)
		_, err := findEngine(t.Context(), t.TempDir())
		g.Expect(err).To(MatchError(And(ContainSubstring("cannot run a privileged container"), ContainSubstring("operation not permitted"))))
		calls := read().Calls
		g.Expect(calls[len(calls)-2]).To(HavePrefix(name + " rm --force lab-probe-"))
		g.Expect(read().Images).To(BeEmpty())
	})
}

func TestAProofThatCannotBeWrittenRefusesNoEngine(t *testing.T) {
	needStatic(t)
	g := NewWithT(t)
	fakeEngines(t, fakeEngine{}, "docker")
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "engines"), nil, 0o644)).To(Succeed())
	e, err := findEngine(t.Context(), folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.name).To(Equal("docker"))
}

func TestTheSameEngineOnTheSecondRun(t *testing.T) {
	needStatic(t)
	needPodman(t)
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
			fakeEngines(t, fakeEngine{Fails: c.fails}, engines...)
			folder := t.TempDir()
			for range 3 {
				e, err := findEngine(t.Context(), folder)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect([]string{e.name, e.why, e.second}).To(Equal([]string{c.engine, c.why, c.second}))
			}
			g.Expect(os.ReadDir(filepath.Join(folder, "engines"))).To(HaveLen(1))
			g.Expect(filepath.Join(folder, "engines", c.proofs)).To(BeARegularFile())
		})
	}
}

func TestALabIsSoughtInTheEngineItStandsIn(t *testing.T) {
	needStatic(t)
	needPodman(t)
	g := NewWithT(t)
	l := testLab(t, "x")
	release, err := l.lock()
	g.Expect(err).NotTo(HaveOccurred())
	defer release()
	g.Expect(l.writeRecord(l.recordFile(), "podman")).To(Succeed())
	fakeEngines(t, fakeEngine{}, engines...)
	e, err := l.chooseEngine(t.Context(), l.Folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.String()).To(Equal("podman 5.4.0 (the lab stands in it)"))

	t.Setenv("LAB_ENGINE", "docker")
	_, err = l.chooseEngine(t.Context(), l.Folder)
	g.Expect(err).To(MatchError(ContainSubstring("LAB_NAME=x LAB_ENGINE=podman make down")))

	t.Setenv("LAB_ENGINE", "")
	fakeEngines(t, fakeEngine{Fails: map[string]string{"podman version": "no"}}, engines...)
	_, err = l.chooseEngine(t.Context(), l.Folder)
	g.Expect(err).To(MatchError(And(ContainSubstring("the lab x stands in podman, which does not work now"), ContainSubstring(l.recordFile()))))
}

func ourNode(lab, owner string) container {
	node := container{ID: "our-node", Name: "/" + lab + "-control-plane"}
	node.State.Running = true
	node.Config.Image = "node:1"
	node.Config.Labels = map[string]string{clusterLabel: lab}
	node.Mounts = append(node.Mounts, struct{ Source, Destination string }{"/home/a/.cache/gsb-jobset/labs/" + lab + ".seal/owner", "/etc/gsb-jobset.owner/" + owner})
	return node
}
