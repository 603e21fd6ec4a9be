package provision

import (
	"context"
	"os"
	"path/filepath"

	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/progress"
)

// Beside runs a command that makes a cluster of its own, with the container
// engine and what a node is made of at hand: LAB_ENGINE is the engine's program,
// whose settings are in the environment too, as the kind program's are;
// LAB_NODE_IMAGE is the node image, which is loaded; LAB_SEAL is the folder of
// what keeps a node from opening connections to the outside; LAB_MANIFESTS and
// LAB_PROGRAMS are the folders of the manifests and of the programs in that
// image. Nothing of a lab is made here, and what the command makes it removes.
func WithEngine(ctx context.Context, l *labs.Lab, args []string) error {
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	m := &bringUp{lab: l, sets: &imageset.Resolver{Lab: l}, list: progress.New(os.Stdout)}
	var programs string
	build := func(ctx context.Context, say func(string)) (said string, err error) {
		programs, err = m.sets.Builder(say).Programs(ctx)
		m.notes = m.sets.Damage.Take()
		return programs, err
	}
	err = inOrder(ctx, m.step("host", m.host), m.step("images", m.images), m.step("programs", build))
	m.list.Close()
	if err != nil {
		return err
	}
	seal := l.EgressFolder()
	if _, err := kindcluster.WriteEgressRules(seal); err != nil {
		return err
	}
	defer os.RemoveAll(seal)
	for name, value := range map[string]string{
		"LAB_SEAL":       seal,
		"LAB_ENGINE":     m.engine.Name,
		"LAB_NODE_IMAGE": m.set.Node,
		"LAB_MANIFESTS":  filepath.Dir(m.set.JobSetManifest),
		"LAB_PROGRAMS":   programs,
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return command(ctx, l, args)
}
