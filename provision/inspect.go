package provision

import (
	"context"
	"errors"
	"fmt"

	"gsb.test/jobset-e2e/provision/install"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
)

// absent is the verdict on a cluster that does not exist.
const absent = "no such cluster"

// inspect says why the existing cluster cannot be used as it is; empty if it can.
// A cluster of that name which is not ours is an error.
func inspect(ctx context.Context, l *labs.Lab, k *kindcluster.Cluster) (verdict string, err error) {
	found, err := k.Survey(ctx)
	if err != nil {
		return "", err
	}
	if err := found.Refusal(); err != nil {
		return "", err
	}
	if len(found.Containers) == 0 {
		return absent, nil
	}
	node := found.Containers[0] // kind makes one
	if node.Config.Image != k.Image {
		return "it has another node image", nil
	}
	if !node.State.Running {
		return "its node is stopped", nil
	}
	return inspectInside(ctx, l, k)
}

// inspectInside says why a cluster whose node runs, of the right image, must be made
// anew; empty if it need not be. It changes nothing. A lab that may hold a learner's
// work is never made anew: whatever keeps it from being used is an error.
func inspectInside(ctx context.Context, l *labs.Lab, k *kindcluster.Cluster) (verdict string, err error) {
	complete, err := k.WasComplete(ctx)
	if err != nil {
		return "", err
	}
	if err := k.WriteKubeconfig(ctx); err != nil {
		if ctx.Err() != nil || complete {
			return "", errors.Join(ctx.Err(), fmt.Errorf("%w\n   to make it again: make down up", err))
		}
		return "its kubeconfig could not be read from the node", nil
	}
	cluster, err := install.Connect(k.Kubeconfig, l.Pins)
	if err != nil {
		return "", err
	}
	if !complete {
		return cluster.Abandoned(ctx)
	}
	if err := cluster.RefuseInUse(ctx, k.Name); err != nil {
		return "", err
	}
	return cluster.Faulty(ctx, k.Name)
}
