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

// WithEngine runs a command that makes a cluster of its own. It finds the container
// engine's program in LAB_ENGINE, the engine's and kind's settings in the environment,
// the loaded node image in LAB_NODE_IMAGE, the folder of the egress rules in LAB_SEAL,
// and the manifests and programs of that image in LAB_MANIFESTS and LAB_PROGRAMS. No
// lab is made, and the command removes what it makes.
func WithEngine(ctx context.Context, l *labs.Lab, args []string) error {
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	m := &bringUp{lab: l, sets: &imageset.Resolver{Lab: l}, list: progress.New(os.Stdout)}
	var programs string
	build := func(ctx context.Context, say func(string)) (summary string, err error) {
		programs, err = m.sets.Builder(say).Programs(ctx)
		m.notes = m.sets.Damage.Take()
		return programs, err
	}
	err = inOrder(ctx, m.step("host", m.host), m.step("images", m.images), m.step("programs", build))
	m.list.Close()
	if err != nil {
		return err
	}
	rules := l.EgressFolder()
	if _, err := kindcluster.WriteEgressRules(rules); err != nil {
		return err
	}
	defer os.RemoveAll(rules)
	for name, value := range map[string]string{
		"LAB_SEAL":       rules,
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
