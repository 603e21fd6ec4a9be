package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/e2e-framework/pkg/env"
)

// Beside runs a command that makes a cluster of its own, with the container
// engine and what a node is made of at hand: LAB_ENGINE is the engine's program,
// whose settings are in the environment too, as the kind program's are;
// LAB_NODE_IMAGE is the node image, which is loaded; LAB_SEAL is the folder of
// what keeps a node from opening connections to the outside; LAB_MANIFESTS and
// LAB_PROGRAMS are the folders of the manifests and of the programs in that
// image. Nothing of a lab is made here, and what the command makes it removes.
func (l *Lab) Beside(ctx context.Context, args []string) error {
	release, err := l.hold()
	if err != nil {
		return err
	}
	defer release()
	m := &making{lab: l, list: newList(os.Stdout)}
	for _, step := range []env.Func{m.step("host", m.host), m.step("images", m.images)} {
		if ctx, err = step(ctx, m.config()); err != nil {
			m.list.close()
			return err
		}
	}
	m.list.close()
	programs, err := filepath.Glob(filepath.Join(l.Folder, "images", "programs-*", "kubernetes"))
	if err != nil || len(programs) == 0 {
		return fmt.Errorf("the programs of the node are not cached below %s (%w): LAB_IMAGES=source make foreign builds them", l.Folder, os.ErrNotExist)
	}
	seal := l.sealFolder()
	if _, err := writeSeal(seal); err != nil {
		return err
	}
	defer os.RemoveAll(seal)
	for name, value := range map[string]string{
		"LAB_SEAL":       seal,
		"LAB_ENGINE":     m.engine.name,
		"LAB_NODE_IMAGE": m.set.Node,
		"LAB_MANIFESTS":  filepath.Dir(m.set.JobSetManifest),
		"LAB_PROGRAMS":   filepath.Dir(programs[len(programs)-1]),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return l.command(ctx, args)
}
