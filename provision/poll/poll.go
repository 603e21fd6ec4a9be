package poll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// patience is how long one promise may take. On two cores the slowest takes
	// less than a tenth of it, so running out of it means that something is stuck.
	patience = 3 * time.Minute
	// pollInterval is the pause between two looks: short beside what is waited
	// for (seconds), long beside what a look costs (milliseconds).
	PollInterval = 100 * time.Millisecond
	// lookTimeout ends a single look, so that one hanging request is told as such
	// and does not use up the whole patience.
	LookTimeout = 15 * time.Second
)

// notYet is what was seen when the awaited state does not hold, but still can.
type Pending string

func (n Pending) Error() string { return string(n) }

// notYetf is a notYet with a format.
func Pendingf(format string, args ...any) error { return Pending(fmt.Sprintf(format, args...)) }

// waitFor looks until look returns nil, and says on giving up what was awaited,
// for how long, the last state seen and the last error.
//
// A look that returns a notYet, or an error that may pass by itself (see
// transient), is repeated. Any other error ends the wait at once: no waiting
// cures an object that the API server finds invalid.
func For(ctx context.Context, what string, look func(context.Context) error) error {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var state, trouble, lasting error
	err := wait.PollUntilContextCancel(ctx, PollInterval, true, func(ctx context.Context) (bool, error) {
		once, done := context.WithTimeout(ctx, LookTimeout)
		defer done()
		seen := look(once)
		var pending Pending
		switch {
		case seen == nil:
			return true, nil
		case ctx.Err() != nil:
			// The look was cut off by the end of the wait: what it says of the
			// cluster is worth less than what the look before it said.
			if state == nil && trouble == nil {
				trouble = seen
			}
			return false, ctx.Err()
		case errors.As(seen, &pending):
			state, trouble = seen, nil
		case transient(seen):
			trouble = seen
		default:
			lasting = seen
			return false, seen
		}
		return false, nil
	})
	if err == nil {
		return nil
	}
	took := time.Since(start).Round(time.Millisecond)
	if took > time.Second {
		took = took.Round(time.Second)
	}
	if lasting != nil {
		return fmt.Errorf("waiting for %s: after %s: %w", what, took, lasting)
	}
	verb := "gave up waiting for"
	if errors.Is(err, context.Canceled) {
		verb = "was interrupted while waiting for"
	}
	message := fmt.Sprintf("%s %s after %s", verb, what, took)
	if state != nil {
		message += fmt.Sprintf("; last seen: %v", state)
	}
	if trouble != nil {
		return fmt.Errorf("%s; last error: %w (%w)", message, trouble, err)
	}
	return fmt.Errorf("%s: %w", message, err)
}

// transient tells whether an error may pass by itself: the connection to the
// API server or from it to a webhook failed (the API server reports the latter
// with a status of 500 or above), or it is busy, or has not yet noticed a new kind.
// What the API server or a webhook refuses (invalid, forbidden) is not.
func transient(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusConflict
	}
	// Every failed request is a net.Error, one with the wrong certificate
	// authority too; only what a socket says can change by itself.
	var socket *net.OpError
	return errors.As(err, &socket) || meta.IsNoMatchError(err) || errors.Is(err, context.DeadlineExceeded) ||
		utilnet.IsTimeout(err) || utilnet.IsProbableEOF(err)
}
