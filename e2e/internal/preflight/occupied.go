package preflight

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"gsb.test/jobset-e2e/e2e/internal/ownership"
)

// Held takes in how Hold ended, and returns why the run must not go on. That this
// run's account has no right to Leases is not a reason, and is noted.
func (s *Facts) Held(err error) error {
	var occupied *ownership.Occupied
	switch {
	case errors.As(err, &occupied):
		s.Occupied = occupied
		return fmt.Errorf("No step was run: %w", occupied)
	case apierrors.IsForbidden(err):
		s.Unheld = err
		return nil
	}
	return err
}
