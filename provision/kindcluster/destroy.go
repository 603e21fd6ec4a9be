package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gsb.test/jobset-e2e/provision/engine"
)

// destroyUntilEnded destroys the cluster repeatedly until kind's Create has ended, and
// once more then.
func (k *Cluster) destroyUntilEnded(ctx context.Context, ended <-chan error) error {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		err := k.Destroy(ctx)
		select {
		case _ = <-ended:
			return k.Destroy(ctx)
		case <-ctx.Done():
			return fmt.Errorf("%w: kind has not given up making the cluster %s within %s (%w)", ErrNotRemoved, k.Name, RemoveTimeout, errors.Join(ctx.Err(), err))
		case <-again.C:
			if err != nil {
				k.Say(engine.FirstLine(err))
			}
		}
	}
}

// Destroy removes everything with our mark: the node, its volume and its network. A
// cluster that does not exist is no error. An object of its name that is not ours is
// left, and named in the error, after everything else is gone.
func (k *Cluster) Destroy(ctx context.Context) error {
	found, err := k.Survey(ctx)
	if err != nil {
		return err
	}
	for _, node := range found.Containers {
		// An orderly shutdown would take ten seconds.
		_, _ = k.Engine.Run(ctx, "kill", node.ID) // it may have stopped already
		if err := unfreeze(freezer, node.ID); err != nil {
			return fmt.Errorf("unfreezing the node of %s: %w", k.Name, err)
		}
		if _, err := k.Engine.Run(ctx, "rm", "--force", "--volumes", node.ID); err != nil {
			return fmt.Errorf("removing the node of %s: %w", k.Name, err)
		}
	}
	if k.Engine.Name == "podman" && found.Foreign == nil {
		if err := k.removeVolumes(ctx); err != nil {
			return fmt.Errorf("removing the volume of %s: %w", k.Name, err)
		}
	}
	for _, own := range found.networks {
		if _, err := k.Engine.Run(ctx, "network", "rm", own.ID); err != nil && found.Foreign != nil {
			return found.Foreign // it may be on our network
		} else if err != nil {
			return fmt.Errorf("removing the network of %s: %w", k.Name, err)
		}
	}
	return found.Refusal()
}

// removeVolumes removes the volume that kind creates for a node in Podman, before the
// container, which may not exist. It carries no mark: it is ours because the storage
// is. Docker removes a node's volume with the node.
func (k *Cluster) removeVolumes(ctx context.Context) error {
	volumes, err := k.Engine.Run(ctx, "volume", "ls", "--quiet", "--filter", "label="+k.container())
	if err != nil {
		return err
	}
	for _, volume := range strings.Fields(volumes) {
		if _, err := k.Engine.Run(ctx, "volume", "rm", volume); err != nil {
			return err
		}
	}
	return nil
}

const (
	// RemoveTimeout bounds a cleanup, so that Ctrl-C does not hang longer.
	RemoveTimeout = 2 * time.Minute
	// gatheringLogs bounds the gathering of logs before it, which takes some seconds.
	GatheringLogs = 30 * time.Second
)

// ErrNotRemoved is in the error if a part of a lab could not be removed.
var ErrNotRemoved = errors.New("the lab could not be removed; run make down again, and if that fails too, see what it says")
