package faults

import (
	"slices"
	"strings"
	"testing"
)

func TestAProofMustSeeTheFault(t *testing.T) {
	t.Parallel()
	broken := false
	on := &fakeNode{}
	on.fails = func(command string) error {
		switch command {
		case "break":
			broken = true
		case "restore":
			broken = false
		case "prove":
			if broken {
				return &commandError{"it is broken"}
			}
		}
		return nil
	}
	fault := func(prove string) []Action {
		return []Action{{Node: &Node{Do: "break", Undo: "restore", Prove: prove}}}
	}
	cluster := fakeCluster()
	i := injectionOn(cluster, on)
	if err := made(t.Context(), i, fault("prove")); err != nil {
		t.Fatal(err)
	}
	restored(t, cluster, on)
	if wanted := []string{"prove", "break", "prove", "restore", "prove"}; !slices.Equal(on.commands, wanted) {
		t.Errorf("on the node %v was run and not %v", on.commands, wanted)
	}
	if err := made(t.Context(), injectionOn(fakeCluster(), on), fault("true")); err == nil || !strings.Contains(err.Error(), "it proves nothing") {
		t.Errorf("a proof that always holds gave %v", err)
	}
	// The last fault is still there, as an earlier program may have left it.
	if err := made(t.Context(), injectionOn(fakeCluster(), on), fault("prove")); err == nil || !strings.Contains(err.Error(), "not as it must be before") {
		t.Errorf("a node that is broken already gave %v", err)
	}
	on.fails = func(command string) error {
		if command == "prove" && slices.Contains(on.commands, "break") {
			return &commandError{"it is broken"}
		}
		return nil
	}
	on.commands, cluster = nil, fakeCluster()
	i = injectionOn(cluster, on)
	if err := made(t.Context(), i, fault("prove")); err != nil {
		t.Fatal(err)
	}
	if err := i.restoreAll(t.Context()); err == nil || !strings.Contains(err.Error(), "the node is not restored: it is broken") || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("an undo that undoes nothing gave %v", err)
	}
}
