package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/lab"
)

const (
	// howToRestore is what to type where a fault is left in a lab.
	howToRestore = "lab-e2e faults --restore   (in a checkout: make faults RESTORE=1)"
	// restoresWithin bounds the restoring of a fault that an earlier run left.
	restoresWithin = 5 * time.Minute
)

// refuseLeftovers refuses a lab in which an earlier run left a fault: whatever is
// found there could be its doing. Shells that were left are removed.
func (r *Run) refuseLeftovers(ctx context.Context) error {
	left, err := readJournal(ctx, r.world.Client())
	if err != nil {
		return err
	}
	if left != nil {
		return left.refusal()
	}
	return r.removeShells(ctx)
}

func (r *Run) removeShells(ctx context.Context) error {
	names, err := removeShells(ctx, r.world.Client())
	if len(names) > 0 {
		fmt.Fprintf(r.Out, "removed shells on the node that an earlier run left: %s\n", strings.Join(names, ", "))
	}
	return err
}

// Restore restores what an earlier run broke and left, by its journal alone. The
// journal stays unless all of it is restored and proven.
func (r *Run) Restore(ctx context.Context) (err error) {
	lab.SetWaits()
	if r.world, err = lab.Connect(r.Settings); err != nil {
		return err
	}
	left, err := readJournal(ctx, r.world.Client())
	if err != nil {
		return err
	}
	if left == nil {
		fmt.Fprintln(r.Out, "There is nothing to restore: no fault is left in this lab.")
		return r.removeShells(ctx)
	}
	fmt.Fprintf(r.Out, "Fault %s is in this lab since %s, by %s (run %s). Restoring:\n",
		left.fault, left.since.Format(time.RFC3339), left.holder, left.run)
	for _, e := range slices.Backward(left.list()) {
		fmt.Fprintf(r.Out, "  %s\n", e)
	}
	began := time.Now()
	if err := r.restore(ctx, left); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(errors.New("interrupted"), err)
		}
		return NotRestored{fmt.Errorf("the lab is not restored: %w.\n  The journal is still there; to go on, type: %s", err, howToRestore)}
	}
	fmt.Fprintf(r.Out, "The lab is restored, and proven to be whole, after %.1f s.\n", time.Since(began).Seconds())
	return nil
}

// NotRestored is an error of a restore that began.
type NotRestored struct{ error }

func (e NotRestored) Unwrap() error { return e.error }

func (r *Run) restore(ctx context.Context, left *journal) (err error) {
	ctx, cancel := context.WithTimeout(ctx, restoresWithin)
	defer cancel()
	if left.onNode() {
		// Without a shell, what is not of the node is restored all the same.
		shell, opened := openShell(ctx, r.world, r.ID, true)
		if opened == nil {
			r.shell = shell
			defer func() { err = errors.Join(err, shell.close(ctx)) }()
		}
		defer func() { err = errors.Join(err, opened) }()
	}
	injection := r.injection(left)
	if err := errors.Join(injection.heal(ctx), r.world.Freshen(ctx)); err != nil {
		return err
	}
	if err := r.prove(ctx, r.world, injection); err != nil {
		return err
	}
	if err := left.remove(ctx); err != nil {
		return err
	}
	return r.removeShells(ctx)
}

// onNode tells whether a fault has commands on the node.
func (j *journal) onNode() bool {
	return slices.ContainsFunc(j.list(), func(e entry) bool { return e.Node != nil })
}
