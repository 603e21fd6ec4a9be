package provision

import (
	"context"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
)

// cluster is this lab's kind cluster in an engine, with the mark that identifies it.
func cluster(l *labs.Lab, e engine.Engine) (*kindcluster.Cluster, error) {
	id, err := l.Owner()
	if err != nil {
		return nil, err
	}
	return &kindcluster.Cluster{Name: l.Name, Kubeconfig: l.Kubeconfig(), Engine: e, Owner: id, MadeBy: l.MadeBy(), Say: func(string) {}}, nil
}

// refuseForeign is an error if something of the lab's name in the engine is not ours.
// It runs before anything is built.
func refuseForeign(ctx context.Context, l *labs.Lab, e engine.Engine) error {
	if err := e.Use(l.Name, l.PodmanFolder()); err != nil {
		return err
	}
	k, err := cluster(l, e)
	if err != nil {
		return err
	}
	found, err := k.Survey(ctx)
	if err != nil {
		return err
	}
	return found.Refusal()
}
