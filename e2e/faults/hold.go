package faults

import (
	"context"
	"errors"
	"fmt"

	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
)

// hold takes the lab for the whole catalogue, before anything in it is changed. The
// runs of the suite that the catalogue starts carry the same id (LAB_RUN), and so
// are not kept off. If another run takes the lab, the catalogue is interrupted.
func (r *Run) hold(ctx context.Context, facts *preflight.Facts) (err error) {
	r.release, err = ownership.Hold(ctx, r.lab, "lab-e2e faults", func(lost error) {
		fmt.Fprintf(r.Out, "\n%v: restoring what is broken, and ending\n", lost)
		r.interrupt(lost)
	})
	if err = facts.Held(err); err == nil && facts.Unheld != nil {
		fmt.Fprintf(r.Out, "nothing keeps a second run off this lab meanwhile: %v\n", facts.Unheld)
	}
	return err
}

// letGo lets other runs have the lab.
func (r *Run) letGo(ctx context.Context, err error) error {
	if r.release == nil {
		return err
	}
	if released := r.release(context.WithoutCancel(ctx)); err == nil {
		err = released
	}
	if err == nil && ctx.Err() != nil {
		err = interruptedBy(ctx)
	}
	return err
}

// interruptedBy is why the lab was lost; nil if somebody interrupted the catalogue,
// which is reported otherwise.
func interruptedBy(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return cause
	}
	return nil
}
