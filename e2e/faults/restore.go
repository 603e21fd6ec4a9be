package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
)

const (
	// howToRestore is what to type where a fault is left in a lab.
	howToRestore = "lab-e2e faults --restore   (in a checkout: make faults RESTORE=1)"
	// restoresWithin bounds the restoring of a fault that an earlier run left.
	restoresWithin = 5 * time.Minute
)

// removeShells removes what earlier runs left of their shells on the node. This run
// holds the lab, so none of them is in use.
func (r *Run) removeShells(ctx context.Context) error {
	names, err := removeShells(ctx, r.lab.Client())
	if len(names) > 0 {
		fmt.Fprintf(r.Out, "removed shells on the node that an earlier run left: %s\n", strings.Join(names, ", "))
	}
	return err
}

// Restore restores what an earlier run broke and left, by its journal alone. The
// journal stays unless all of it is restored and proven.
func (r *Run) Restore(ctx context.Context) (err error) {
	cluster.SetWaits()
	if r.lab, err = cluster.Connect(r.Settings); err != nil {
		return err
	}
	ctx, r.interrupt = context.WithCancelCause(ctx)
	defer r.interrupt(nil)
	defer func() { err = r.letGo(ctx, err) }()
	if err := r.holdToRestore(ctx); err != nil {
		return err
	}
	left, err := readJournal(ctx, r.lab.Client())
	if err != nil {
		return err
	}
	if left == nil {
		fmt.Fprintf(r.Out, "There is nothing to restore: no fault is left in this lab.\n")
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

// holdToRestore takes the lab, if need be once the Lease of a run that was killed has
// run out. A run that goes on renews its Lease, and is not disturbed.
func (r *Run) holdToRestore(ctx context.Context) error {
	err := r.hold(ctx, &preflight.Facts{})
	var occupied *ownership.Occupied
	if !errors.As(err, &occupied) {
		return err
	}
	fmt.Fprintf(r.Out, "The lab is held by %s. If that run was killed, its Lease runs out at %s at the latest: waiting for that.\n",
		occupied.Holder, occupied.Until.Format(time.RFC3339))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(occupied.Until) + time.Second):
	}
	return r.hold(ctx, &preflight.Facts{})
}

// NotRestored is an error of a restore that began.
type NotRestored struct{ error }

func (e NotRestored) Unwrap() error { return e.error }

func (r *Run) restore(ctx context.Context, left *journal) (err error) {
	ctx, cancel := context.WithTimeout(ctx, restoresWithin)
	defer cancel()
	if left.onNode() {
		// Without a shell, what is not of the node is restored all the same.
		shell, opened := openShell(ctx, r.lab, r.Settings.Run, true)
		if opened == nil {
			r.shell = shell
			defer func() { err = errors.Join(err, shell.close(ctx)) }()
		}
		defer func() { err = errors.Join(err, opened) }()
	}
	injection := r.injection(left)
	// The proof is that of the run which broke the lab: to any other, its journal is a finding.
	settings := r.Settings
	settings.Run = left.run
	lab, err := cluster.Connect(settings)
	if err != nil {
		return err
	}
	if err := errors.Join(injection.restoreAll(ctx), ownership.CleanUpPreviousRun(ctx, lab)); err != nil {
		return err
	}
	if err := r.prove(ctx, lab, injection); err != nil {
		return err
	}
	if err := left.remove(ctx); err != nil {
		return err
	}
	_, err = removeShells(ctx, r.lab.Client())
	return err
}

// onNode reports whether a fault has commands on the node.
func (j *journal) onNode() bool {
	return slices.ContainsFunc(j.list(), func(e entry) bool { return e.Node != nil })
}
