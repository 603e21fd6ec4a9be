package provision

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// takeAway destroys the cluster until kind's Create has ended, and once more then.
func (k *kindCluster) takeAway(ctx context.Context, ended <-chan error) error {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		err := k.Destroy(ctx)
		select {
		case _ = <-ended:
			return k.Destroy(ctx)
		case <-ctx.Done():
			return fmt.Errorf("%w: kind has not given up making the cluster %s within %s (%w)", ErrNotRemoved, k.name, removing, errors.Join(ctx.Err(), err))
		case <-again.C:
			if err != nil {
				k.say(firstLine(err))
			}
		}
	}
}

// Destroy removes what carries our mark: the node, its volume and its network. A
// cluster that does not exist is removed already; what has its name and is not ours
// is left, and named in the error, once all else is gone.
func (k *kindCluster) Destroy(ctx context.Context) error {
	found, err := k.survey(ctx)
	if err != nil {
		return err
	}
	for _, node := range found.containers {
		// An orderly shutdown of a node that is thrown away would take ten seconds.
		_, _ = k.engine.run(ctx, "kill", node.ID) // it may have stopped already
		if err := unfreeze(freezer, node.ID); err != nil {
			return fmt.Errorf("thawing the node of %s: %w", k.name, err)
		}
		if _, err := k.engine.run(ctx, "rm", "--force", "--volumes", node.ID); err != nil {
			return fmt.Errorf("removing the node of %s: %w", k.name, err)
		}
	}
	if k.engine.name == "podman" && found.foreign == nil {
		if err := k.removeVolumes(ctx); err != nil {
			return fmt.Errorf("removing the volume of %s: %w", k.name, err)
		}
	}
	for _, own := range found.networks {
		if _, err := k.engine.run(ctx, "network", "rm", own.ID); err != nil && found.foreign != nil {
			return found.foreign // it may be on our network
		} else if err != nil {
			return fmt.Errorf("removing the network of %s: %w", k.name, err)
		}
	}
	return found.refusal()
}

// removeVolumes removes the volume that kind makes for a node in Podman, by itself and
// before the container, which may never have come. Whose it is does not stand on it:
// it is ours because the storage is. In Docker a node's volume goes with it.
func (k *kindCluster) removeVolumes(ctx context.Context) error {
	volumes, err := k.engine.run(ctx, "volume", "ls", "--quiet", "--filter", "label="+k.container())
	if err != nil {
		return err
	}
	for _, volume := range strings.Fields(volumes) {
		if _, err := k.engine.run(ctx, "volume", "rm", volume); err != nil {
			return err
		}
	}
	return nil
}
