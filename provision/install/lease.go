package install

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/fixtures"
)

// askingTheLease bounds the question whether a run uses the lab: a dead API server
// does not prevent the removal of a lab.
const askingTheLease = 3 * time.Second

// RefuseInUse is an error while a run uses the lab. An API server that does not answer
// has no run.
func (c *Cluster) RefuseInUse(ctx context.Context, lab string) error {
	bounded, cancel := context.WithTimeout(ctx, askingTheLease)
	defer cancel()
	lease := &coordinationv1.Lease{}
	if err := c.Get(bounded, client.ObjectKey{Namespace: c.pins.Namespace, Name: fixtures.RunLease}, lease); err != nil {
		return ctx.Err() //nolint:nilerr // as said above
	}
	return heldBy(lab, lease, time.Now())
}

// heldBy names the holder of a Lease that has not expired.
func heldBy(lab string, lease *coordinationv1.Lease, now time.Time) error {
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return nil
	}
	left := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second).Sub(now)
	if left <= 0 {
		return nil
	}
	since := spec.RenewTime.Time
	if spec.AcquireTime != nil {
		since = spec.AcquireTime.Time
	}
	return fmt.Errorf("a run is on the lab %s: %s, since %s\n"+
		"   wait for it to end, or end it (Ctrl-C, or kill its process); if it is gone already, its hold runs out in %.0f s",
		lab, *spec.HolderIdentity, since.Local().Format(time.TimeOnly), max(1, left.Seconds()))
}
