package lab

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Occupied is why a run is not begun: another one is on the lab.
type Occupied struct {
	Lease        string // namespace/name
	Holder       string
	Since, Until time.Time
}

func (o *Occupied) Error() string {
	const clock = "2006-01-02 15:04:05 MST"
	return fmt.Sprintf("another run is on this lab: %s, since %s. Wait for its end; if it was killed, its Lease %s runs out at %s "+
		"at the latest, and a run takes the lab over then", o.Holder, o.Since.Local().Format(clock), o.Lease, o.Until.Local().Format(clock))
}

// Held takes in how Hold ended, and returns why the run must not go on. That this
// run's account has no right to Leases is not a reason, and is noted.
func (s *Site) Held(err error) error {
	var occupied *Occupied
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
