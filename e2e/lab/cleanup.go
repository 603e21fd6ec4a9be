package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/fixtures"
)

// Cleanup removes what a run left that did not come to its own end: the files that
// it wrote and that nobody changed since, its JobSets and its Lease. Which run it
// was, its verdict says. The files go even where the cluster does not answer, for
// they are the solutions.
func Cleanup(ctx context.Context, settings Settings) error {
	world := &World{Settings: settings}
	files := world.ledger().clear(world.stepFiles())
	verdict, err := settings.ReadVerdict()
	if err != nil {
		return errors.Join(files, fmt.Errorf("which run it was that was killed is not known: %w", err))
	}
	settings.Run = verdict.Run
	if world, err = Connect(settings); err != nil {
		return errors.Join(files, err)
	}
	ours, _, err := world.jobSets(ctx)
	if err == nil {
		err = world.remove(ctx, slices.DeleteFunc(ours, func(jobSet jobsetv1.JobSet) bool {
			return jobSet.Annotations[fixtures.RunAnnotation] != settings.Run
		}))
	}
	return errors.Join(files, err, world.lease("").dropRun(ctx))
}

// dropRun deletes the Lease of a run that is gone.
func (l runLease) dropRun(ctx context.Context) error {
	within, cancel := brief(ctx)
	defer cancel()
	there, err := l.leases().Get(within, fixtures.RunLease, metav1.GetOptions{})
	if err == nil && there.Annotations[fixtures.RunAnnotation] == l.run {
		err = l.delete(ctx, there)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("the Lease %s/%s of the run that was killed could not be deleted: %w", l.namespace, fixtures.RunLease, err)
	}
	return nil
}
