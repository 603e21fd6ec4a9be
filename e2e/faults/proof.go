package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
)

// repair puts everything back, removes what the run of the suite left, waits for the proof
// that the lab is whole, and only then removes the journal.
func (r *Run) repair(ctx context.Context, injection *Injection, folder string) error {
	err := injection.restoreAll(ctx)
	settings := r.Settings
	settings.Reports, settings.WorkDir = folder, workDir(folder)
	lab, connected := cluster.Connect(settings)
	if connected != nil {
		return errors.Join(err, connected)
	}
	if err := errors.Join(err, ownership.CleanUpPreviousRun(ctx, lab)); err != nil {
		return err
	}
	if err := r.prove(ctx, lab, injection); err != nil {
		return err
	}
	return injection.journal.remove(ctx)
}

// prove waits for the proof that the lab is whole, and removes what is kept on
// the node about the fault's commands.
func (r *Run) prove(ctx context.Context, lab *cluster.Cluster, injection *Injection) error {
	err := injection.until(ctx, "the proof that the lab is whole", func(ctx context.Context) (string, error) {
		return r.notRestored(ctx, lab, injection)
	})
	if err != nil || !injection.journal.onNode() {
		return err
	}
	return injection.node.forget(ctx)
}

// notRestored says what is not yet as in a whole lab: what was touched, what there
// is in the namespace, what the environment check finds.
func (r *Run) notRestored(ctx context.Context, lab *cluster.Cluster, injection *Injection) (string, error) {
	left, err := injection.drift(ctx)
	if err != nil || len(left) > 0 {
		return firstOf(left), err
	}
	if r.baseline != nil {
		if says := r.unexpected(ctx, lab); says != "" {
			return says, nil
		}
	}
	return preflight.Blocking(preflight.Judge(preflight.Collect(ctx, lab), lab.Pins)), nil
}

// unexpected says what is in the namespace and does not belong there. A cluster
// that cannot be looked at yet, such as after a restart of Kueue, is no error.
func (r *Run) unexpected(ctx context.Context, lab *cluster.Cluster) string {
	there, err := lab.Inventory(ctx)
	switch {
	case err != nil:
		return "the namespace could not be looked at: " + err.Error()
	case !slices.Equal(there, r.baseline):
		return fmt.Sprintf("there is %v in the namespace, and there was %v", there, r.baseline)
	}
	return ""
}
