package poll

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	jobSets = schema.GroupResource{Group: "jobset.x-k8s.io", Resource: "jobsets"}
	refused = &url.Error{Op: "Get", URL: "https://127.0.0.1:6443", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
)

func TestOnlyTransientErrorsAreRetried(t *testing.T) {
	t.Parallel()
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "JobSet"}, "big", nil)
	denied := apierrors.NewForbidden(jobSets, "big", errors.New(`admission webhook "vjobset.kb.io" denied the request`))
	webhook := apierrors.NewInternalError(errors.New(`failed calling webhook "mjobset.kb.io": dial tcp 10.96.0.7:443: connect: connection refused`))
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"webhook cannot be called", webhook, true},
		{"the same, wrapped", fmt.Errorf("dry run: %w", webhook), true},
		{"connection refused", refused, true},
		{"connection cut", &url.Error{Op: "Get", URL: "x", Err: io.EOF}, true},
		{"look ran out of time", context.DeadlineExceeded, true},
		{"too many requests", apierrors.NewTooManyRequests("slow down", 1), true},
		{"unavailable", apierrors.NewServiceUnavailable("starting"), true},
		{"conflict", apierrors.NewConflict(jobSets, "big", errors.New("changed")), true},
		{"kind not served yet", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "JobSet"}}, true},
		{"invalid", invalid, false},
		{"denied by a webhook", denied, false},
		{"forbidden by the API server", apierrors.NewForbidden(jobSets, "big", errors.New("no right")), false},
		{"not found", apierrors.NewNotFound(jobSets, "big"), false},
		{"bad request", apierrors.NewBadRequest("unknown field"), false},
		{"unauthorized", apierrors.NewUnauthorized("stale kubeconfig"), false},
		{"certificate of another cluster", &url.Error{Op: "Get", URL: "x", Err: x509.UnknownAuthorityError{}}, false},
		{"anything else", errors.New("document 3 is not YAML"), false},
	} {
		if got := transient(test.err); got != test.want {
			t.Errorf("%s: transient is %v, want %v (%v)", test.name, got, test.want, test.err)
		}
	}
}

func TestAWaitThatRunsOutSaysWhatItSawLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*PollInterval)
		defer cancel()
		looks := 0
		err := For(ctx, "the moon", func(context.Context) error {
			if looks++; looks == 1 {
				return Pendingf("phase %d", 7)
			}
			return refused
		})
		if err == nil {
			t.Fatal("it returned though the awaited never held")
		}
		for _, says := range []string{"gave up waiting for the moon after ", "ms", "last seen: phase 7", "last error: ", "connection refused"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("it does not say %q: %v", says, err)
			}
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("it does not wrap both causes: %v", err)
		}
		if looks < 2 {
			t.Errorf("it looked %d times", looks)
		}
	})
}

func TestAnErrorThatPassedIsNotReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*PollInterval)
		defer cancel()
		looks := 0
		err := For(ctx, "the moon", func(context.Context) error {
			if looks++; looks == 1 {
				return refused
			}
			return Pending("phase 7")
		})
		if err == nil || strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "phase 7") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAPermanentErrorEndsTheWaitAtOnce(t *testing.T) {
	t.Parallel()
	looks := 0
	wrong := apierrors.NewInvalid(schema.GroupKind{Kind: "JobSet"}, "big", nil)
	err := For(t.Context(), "the moon", func(context.Context) error { looks++; return wrong })
	if !errors.Is(err, wrong) || looks != 1 || !strings.Contains(err.Error(), "the moon") {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

func TestAnInterruptedWaitSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		err := For(ctx, "the moon", func(context.Context) error { cancel(); return Pending("phase 7") })
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted while waiting for the moon") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("it went on for %s after the interrupt", took)
		}
	})
}

func TestAHangingLookIsCutOffAndTheWaitGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		err := For(t.Context(), "the moon", func(ctx context.Context) error {
			if looks++; looks > 1 {
				return nil
			}
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > LookTimeout {
				t.Errorf("a look may take until %v", deadline)
			}
			return fmt.Errorf("asking: %w", context.DeadlineExceeded)
		})
		if err != nil || looks != 2 {
			t.Errorf("after %d looks: %v", looks, err)
		}
	})
}

func TestSuccessNeedsOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		start := time.Now()
		if err := For(t.Context(), "the moon", func(context.Context) error { looks++; return nil }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); looks != 1 || took > PollInterval {
			t.Errorf("%d looks in %s", looks, took)
		}
	})
}
