package kindcluster

import (
	"context"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/engine/enginetest"
)

func haveImage(name string) func(context.Context, *Cluster) (string, error) {
	return func(ctx context.Context, k *Cluster) (string, error) {
		loaded, err := k.Engine.LoadImage(ctx, name, "/archive.tar")
		return fmt.Sprintf("loaded: %t", loaded), err
	}
}

// TestEngineCalls holds, for both engines, with what an engine is called and what is
// made of its answer.
func TestEngineCalls(t *testing.T) {
	node := enginetest.OurNode("x", "us")
	state := enginetest.State{
		Containers: []engine.Container{node},
		Networks:   []engine.Network{{ID: "n1", Name: "x", Labels: map[string]string{engine.OwnerLabel: "us"}}, {ID: "n2", Name: "xy"}},
		Volumes:    []enginetest.Volume{{Name: "v1", Label: "x-control-plane"}, {Name: "v2", Label: "y-control-plane"}},
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
		do   func(context.Context, *Cluster) (string, error)
		// calls are those of both engines; podman those that Podman gets besides.
		calls, podman []string
		answer        string
	}{
		{
			name:  "exec",
			do:    func(ctx context.Context, k *Cluster) (string, error) { return k.Exec(ctx, "cat", "/kind/version") },
			calls: []string{"exec x-control-plane cat /kind/version"},
		},
		{
			name: "survey",
			do: func(ctx context.Context, k *Cluster) (string, error) {
				found, err := k.Survey(ctx)
				return fmt.Sprintf("%d node, %d network", len(found.Containers), len(found.networks)), err
			},
			calls: find, answer: "1 node, 1 network",
		},
		{
			name: "network",
			do: func(ctx context.Context, k *Cluster) (string, error) {
				k.Name = "z"
				return "", k.createNetwork(ctx)
			},
			calls: []string{"network create --driver bridge --label gsb-jobset.test/owner=us --label gsb-jobset.test/made-by=a on b z"},
		},
		{
			name:   "destroy",
			do:     func(ctx context.Context, k *Cluster) (string, error) { return "", k.Destroy(ctx) },
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
			enginetest.OnBoth(t, func(t *testing.T, name string) {
				g := NewWithT(t)
				read := enginetest.Install(t, state, name)
				k := &Cluster{Name: "x", Image: "node:2", Engine: engine.Engine{Name: name}, Owner: "us", MadeBy: "a on b", Say: func(string) {}}
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
