package provision

import (
	"context"
	"errors"
	"fmt"
)

// absent is the verdict on a cluster that does not exist.
const absent = "no such cluster"

// inspect says why the existing cluster cannot be used as it is; empty if it can.
// A cluster of that name which is not ours is an error.
func (l *Lab) inspect(ctx context.Context, k *kindCluster) (verdict string, err error) {
	found, err := k.survey(ctx)
	if err != nil {
		return "", err
	}
	if err := found.refusal(); err != nil {
		return "", err
	}
	if len(found.containers) == 0 {
		return absent, nil
	}
	node := found.containers[0] // kind makes one
	if node.Config.Image != k.image {
		return "it was of another node image", nil
	}
	if !node.State.Running {
		return "its node had stopped", nil
	}
	return l.inspectInside(ctx, k)
}

// inspectInside says why a cluster whose node runs, of the right image, must be made
// anew; empty if it need not be. It changes nothing. A lab that may hold a learner's
// work is never made anew: whatever keeps it from being used is an error.
func (l *Lab) inspectInside(ctx context.Context, k *kindCluster) (verdict string, err error) {
	complete, err := k.wasComplete(ctx)
	if err != nil {
		return "", err
	}
	if err := k.writeKubeconfig(ctx); err != nil {
		if ctx.Err() != nil || complete {
			return "", errors.Join(ctx.Err(), fmt.Errorf("%w\n   to begin anew: make down up", err))
		}
		return "its kubeconfig could not be read from the node", nil
	}
	standing, err := connect(k.kubeconfig, l.Pins)
	if err != nil {
		return "", err
	}
	if !complete {
		return standing.abandoned(ctx)
	}
	if err := standing.refuseInUse(ctx, k.name); err != nil {
		return "", err
	}
	return standing.faulty(ctx, k.name)
}
