// Package poll waits for a state and reports the last one it saw.
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
	// patience is how long one state may take. On two cores the slowest takes less than a
	// tenth of it.
	patience = 3 * time.Minute
	// pollInterval is the pause between two looks: short beside what is waited for
	// (seconds), long beside the cost of a look (milliseconds).
	PollInterval = 100 * time.Millisecond
	// LookTimeout ends a single look, so that one hanging request does not use up the
	// whole patience.
	LookTimeout = 15 * time.Second
)

// Pending is the state seen when the awaited one has not come yet.
type Pending string

func (n Pending) Error() string { return string(n) }

// Pendingf is a formatted Pending.
func Pendingf(format string, args ...any) error { return Pending(fmt.Sprintf(format, args...)) }

// For looks until look returns nil. Its error says what was awaited, for how long, the
// last state and the last error.
//
// A look that returns Pending or a transient error is repeated. Any other error ends
// the wait at once: waiting does not make an invalid object valid.
func For(ctx context.Context, what string, look func(context.Context) error) error {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var state, last, permanent error
	err := wait.PollUntilContextCancel(ctx, PollInterval, true, func(ctx context.Context) (bool, error) {
		once, done := context.WithTimeout(ctx, LookTimeout)
		defer done()
		seen := look(once)
		var pending Pending
		switch {
		case seen == nil:
			return true, nil
		case ctx.Err() != nil:
			// The wait ended during this look: the look before it says more.
			if state == nil && last == nil {
				last = seen
			}
			return false, ctx.Err()
		case errors.As(seen, &pending):
			state, last = seen, nil
		case transient(seen):
			last = seen
		default:
			permanent = seen
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
	if permanent != nil {
		return fmt.Errorf("waiting for %s: after %s: %w", what, took, permanent)
	}
	verb := "gave up waiting for"
	if errors.Is(err, context.Canceled) {
		verb = "was interrupted while waiting for"
	}
	message := fmt.Sprintf("%s %s after %s", verb, what, took)
	if state != nil {
		message += fmt.Sprintf("; last seen: %v", state)
	}
	if last != nil {
		return fmt.Errorf("%s; last error: %w (%w)", message, last, err)
	}
	return fmt.Errorf("%s: %w", message, err)
}

// transient reports whether an error may go away: the connection to the API server, or
// from it to a webhook, failed (the API server reports the latter with a status of 500
// or above), or it is busy, or does not know a new kind yet. What the API server or a
// webhook refuses (invalid, forbidden) is not transient.
func transient(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusConflict
	}
	// Every failed request is a net.Error, one with the wrong certificate authority
	// included; only a socket error may go away.
	var socket *net.OpError
	return errors.As(err, &socket) || meta.IsNoMatchError(err) || errors.Is(err, context.DeadlineExceeded) ||
		utilnet.IsTimeout(err) || utilnet.IsProbableEOF(err)
}
