package ownership

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/fixtures"
)

// DropRun deletes the Lease of a run that is gone.
func (l runLease) DropRun(ctx context.Context) error {
	within, cancel := cluster.Brief(ctx)
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
