package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	clientexec "k8s.io/client-go/util/exec"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Persist does something in the cluster, again and again while what fails is only
// the way to it or back: for as long as any wait, and no longer than it can still
// succeed. A refusal is returned at once. What is done may be done twice, when the
// answer to the first time was lost, so it must be something that may.
func (w *Cluster) Persist(ctx context.Context, act func(context.Context) error) error {
	var last error
	var away absence
	tries, started := 0, time.Now()
	g := gomega.NewGomega(func(string, ...int) {}) // last tells how it ended
	g.Eventually(ctx, func(ctx context.Context) error {
		within, cancel := Brief(ctx)
		defer cancel()
		tries++
		last = act(within)
		switch {
		case last == nil:
			return nil
		case !LostOnTheWay(last):
			return gomega.StopTrying("refused").Wrap(last)
		}
		if says := away.lasting(w.Controllers(ctx), time.Now()); says != "" {
			last = fmt.Errorf("%s: %w", says, last)
			return gomega.StopTrying(says)
		}
		return last
	}).Should(gomega.Succeed())
	switch {
	case last == nil && tries == 0: // the context had ended
		return ctx.Err()
	case last == nil || !LostOnTheWay(last) && tries == 1:
		return last
	}
	return &undelivered{tries: tries, waited: time.Since(started), refused: !LostOnTheWay(last), last: last}
}

// An undelivered error is that of something that was tried more than once, or whose
// last try was lost on the way.
type undelivered struct {
	tries   int
	waited  time.Duration
	refused bool // after an earlier try was lost
	last    error
}

func (u *undelivered) Error() string {
	if u.refused {
		return fmt.Sprintf("%v (an earlier try was lost on the way, and may have done it)", u.last)
	}
	return fmt.Sprintf("it was tried %s within %.0f s, and the last try was lost on the way: %v", text.Times(u.tries, "time"), u.waited.Seconds(), u.last)
}

func (u *undelivered) Unwrap() error { return u.last }

// LostOnTheWay tells an error of the way to the cluster, or of one part of it to
// another, from the cluster's refusal. What is refused stays refused.
func LostOnTheWay(err error) bool {
	var exited clientexec.CodeExitError
	var silent *Silence
	switch {
	case err == nil, errors.As(err, &exited):
		return false
	case errors.As(err, &silent), errors.Is(err, context.DeadlineExceeded),
		utilnet.IsConnectionRefused(err), utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err),
		utilnet.IsTimeout(err), utilnet.IsHTTP2ConnectionLost(err),
		apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err):
		return true
	}
	// The rest has no type of its own: the API server hands on, as an internal error,
	// what it heard of a webhook, of etcd or of a kubelet.
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonInternalError, metav1.StatusReasonUnknown:
		return slices.ContainsFunc(signsOfLoss, func(sign string) bool { return strings.Contains(err.Error(), sign) })
	}
	return false
}

// signsOfLoss are what Go's net and http packages, gRPC, etcd and the API server's
// proxy say of a connection or a peer that is not there now.
var signsOfLoss = []string{
	"connection refused", "connection reset", "broken pipe", "no route to host", "EOF", "i/o timeout", "handshake timeout",
	"context deadline exceeded", "no endpoints available", "client connection lost",
	"502 Bad Gateway", "503 Service Unavailable", "504 Gateway", "code = Unavailable",
	"etcdserver: request timed out", "etcdserver: leader changed", "etcdserver: no leader",
	"error dialing backend", "apiserver not ready",
}

// An absence is a controller's, as long as it was seen without a break.
type absence struct {
	deployment string
	since      time.Time
}

// lasting says of a controller that is away for so long that it does not come back
// by itself; its webhooks are then not served either.
func (a *absence) lasting(controllers []snapshot.Controller, now time.Time) string {
	i := slices.IndexFunc(controllers, func(c snapshot.Controller) bool { return !c.Available })
	if i < 0 {
		a.deployment = ""
		return ""
	}
	found := controllers[i]
	if found.Deployment != a.deployment {
		a.deployment, a.since = found.Deployment, now
	}
	bound := blockers.ControllerBackWithin
	if found.Why == snapshot.ScaledToNone {
		bound = blockers.ScaledDownAfter
	}
	so := now.Sub(a.since)
	if so < bound {
		return ""
	}
	return fmt.Sprintf("for %.0f s already the %s controller does no work: Deployment %s is not available, %s", so.Seconds(), found.Name, found.Deployment, found.Why)
}
