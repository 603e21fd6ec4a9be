package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gsb.test/jobset-e2e/e2e/lab"
)

// mend puts everything back, takes away what the walk left, waits for the proof
// that the lab is whole, and only then removes the journal.
func (r *Run) mend(ctx context.Context, injection *Injection, folder string) error {
	err := injection.heal(ctx)
	settings := r.Settings
	settings.Reports, settings.WorkDir = folder, workDir(folder)
	world, connected := lab.Connect(settings)
	if connected != nil {
		return errors.Join(err, connected)
	}
	if err := errors.Join(err, world.Freshen(ctx)); err != nil {
		return err
	}
	if err := r.prove(ctx, world, injection); err != nil {
		return err
	}
	return injection.journal.remove(ctx)
}

// prove waits for the proof that the lab is whole, and removes what is kept on
// the node about the fault's commands.
func (r *Run) prove(ctx context.Context, world *lab.World, injection *Injection) error {
	err := injection.until(ctx, "the proof that the lab is whole", func(ctx context.Context) (string, error) {
		return r.broken(ctx, world, injection)
	})
	if err != nil || !injection.journal.onNode() {
		return err
	}
	return injection.node.forget(ctx)
}

// broken tells what is not yet as in a whole lab: what was touched, what there
// is in the namespace, what the preflight finds.
func (r *Run) broken(ctx context.Context, world *lab.World, injection *Injection) (string, error) {
	left, err := injection.left(ctx)
	if err != nil || len(left) > 0 {
		return firstOf(left), err
	}
	if r.empty != nil {
		if says := r.strange(ctx, world); says != "" {
			return says, nil
		}
	}
	return lab.WrongWorld(lab.Preflight(world.Survey(ctx), world.Pins)), nil
}

// strange tells what is in the namespace and does not belong there. A cluster
// that cannot be looked at yet, such as after a restart of Kueue, is no error.
func (r *Run) strange(ctx context.Context, world *lab.World) string {
	there, err := world.Inventory(ctx)
	switch {
	case err != nil:
		return "the namespace could not be looked at: " + err.Error()
	case !slices.Equal(there, r.empty):
		return fmt.Sprintf("there is %v in the namespace, and there was %v", there, r.empty)
	}
	return ""
}
