package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientexec "k8s.io/client-go/util/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

var jobSetKind = schema.GroupKind{Group: "jobset.x-k8s.io", Kind: "JobSet"}

// webhookFailed is the API server's error of a webhook that it could not ask.
func webhookFailed(cause string) error {
	return apierrors.NewInternalError(fmt.Errorf(`failed calling webhook "mjobset.kb.io": failed to call webhook: Post "https://jobset-webhook-service.jobset-system.svc:443/mutate?timeout=10s": %s`, cause))
}

func TestWhatIsLostOnTheWayAndWhatIsRefused(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Group: "jobset.x-k8s.io", Resource: "jobsets"}
	for name, err := range map[string]error{
		"connection refused": &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"reset":              fmt.Errorf("Post: %w", syscall.ECONNRESET),
		"EOF":                fmt.Errorf("Post: %w", io.EOF),
		"cut short":          io.ErrUnexpectedEOF,
		"deadline":           fmt.Errorf("Post: %w", context.DeadlineExceeded),
		"discovery":          &Silence{Question: "which kinds", Cause: context.DeadlineExceeded},
		"a webhook refused":  webhookFailed("dial tcp 10.96.1.1:443: connect: connection refused"),
		"a webhook ended":    webhookFailed("EOF"),
		"a webhook was slow": webhookFailed("context deadline exceeded"),
		"nobody behind it":   webhookFailed(`no endpoints available for service "jobset-webhook-service"`),
		"a proxy":            webhookFailed("502 Bad Gateway"),
		"etcd":               apierrors.NewInternalError(errors.New("etcdserver: request timed out")),
		"a new leader":       errors.New("etcdserver: leader changed"),
		"too many":           apierrors.NewTooManyRequests("later", 1),
		"unavailable":        apierrors.NewServiceUnavailable("later"),
		"timeout":            apierrors.NewTimeoutError("later", 1),
		"server timeout":     apierrors.NewServerTimeout(resource, "create", 1),
		"containerd":         errors.New("error executing command in container: rpc error: code = Unavailable desc = connection error"),
		"kubelet":            apierrors.NewInternalError(errors.New("error dialing backend: dial tcp 10.0.0.2:10250: connect: connection refused")),
	} {
		if !LostOnTheWay(err) || !LostOnTheWay(fmt.Errorf("around it: %w", err)) {
			t.Errorf("%s is taken for a refusal: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"no error":        nil,
		"invalid":         apierrors.NewInvalid(jobSetKind, "hello", field.ErrorList{field.Invalid(field.NewPath("spec"), "EOF", "connection refused")}),
		"forbidden":       apierrors.NewForbidden(resource, "hello", errors.New("no endpoints available")),
		"a webhook's no":  &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 403, Reason: "Forbidden", Message: `admission webhook "vjobset.kb.io" denied the request: EOF`}},
		"a bad request":   apierrors.NewBadRequest("admission webhook denied the request: unexpected EOF"),
		"there already":   apierrors.NewAlreadyExists(resource, "hello"),
		"not found":       apierrors.NewNotFound(resource, "hello"),
		"no such kind":    &meta.NoKindMatchError{GroupKind: jobSetKind},
		"a conflict":      apierrors.NewConflict(resource, "hello", errors.New("connection refused")),
		"no trust":        webhookFailed("tls: failed to verify certificate: x509: certificate signed by unknown authority"),
		"a command's own": fmt.Errorf("kubectl exec: %w: connection refused", clientexec.CodeExitError{Err: errors.New("exit 1"), Code: 1}),
		"interrupted":     context.Canceled,
	} {
		if LostOnTheWay(err) {
			t.Errorf("%s is taken for lost on the way: %v", name, err)
		}
	}
}

// flaky is a World whose API server fails the first creations.
func flaky(t *testing.T, failures ...error) (w *Cluster, tries *atomic.Int32) {
	t.Helper()
	tries = &atomic.Int32{}
	cluster := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if n := int(tries.Add(1)); n <= len(failures) {
				return failures[n-1]
			}
			return c.Create(ctx, o, options...)
		},
	}).Build()
	return &Cluster{API: cluster, Pins: fixtures.Pins{Namespace: "ml"}}, tries
}

func TestWhatIsLostOnTheWayIsTriedAgain(t *testing.T) {
	create := func(w *Cluster) error {
		return w.Persist(t.Context(), func(ctx context.Context) error {
			return w.API.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "hello"}})
		})
	}
	w, tries := flaky(t, webhookFailed("connect: connection refused"), io.EOF)
	if err := create(w); err != nil || tries.Load() != 3 {
		t.Errorf("after %d tries: %v", tries.Load(), err)
	}
	w, tries = flaky(t, apierrors.NewForbidden(schema.GroupResource{}, "hello", errors.New("no")))
	if err := create(w); !apierrors.IsForbidden(err) || tries.Load() != 1 || strings.Contains(err.Error(), "tried") {
		t.Errorf("after %d tries: %v", tries.Load(), err)
	}
	w, tries = flaky(t, io.EOF, apierrors.NewAlreadyExists(schema.GroupResource{}, "hello"))
	if err := create(w); !apierrors.IsAlreadyExists(err) || tries.Load() != 2 || !strings.Contains(err.Error(), "may have done it") {
		t.Errorf("after %d tries: %v", tries.Load(), err)
	}
	var always []error
	for range 10_000 {
		always = append(always, webhookFailed("connect: connection refused"))
	}
	w, _ = flaky(t, always...)
	gomega.EnforceDefaultTimeoutsWhenUsingContexts() // as SetWaits does, but of a second
	t.Cleanup(gomega.DisableDefaultTimeoutsWhenUsingContext)
	if err := create(w); !LostOnTheWay(err) || !strings.HasPrefix(err.Error(), "it was tried ") {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Persist(ended, func(context.Context) error { return io.EOF }); err == nil {
		t.Error("with an ended context it succeeds")
	}
}

// A controller that is away for long is why its webhook is not served: no more
// is waited for it than where a JobSet waits for it.
func TestNoMoreTriesForAControllerThatIsAway(t *testing.T) {
	t.Parallel()
	var away absence
	began := time.Now()
	off := []snapshot.Controller{{Name: "JobSet", Deployment: "a/jobset", Available: true}, {Name: "Kueue", Deployment: "b/kueue", Why: snapshot.ScaledToNone}}
	if says := away.lasting(off, began); says != "" {
		t.Errorf("at once: %s", says)
	}
	if says := away.lasting(off, began.Add(blockers.ScaledDownAfter)); !strings.Contains(says, "the Kueue controller does no work: Deployment b/kueue is not available, it is scaled to 0") {
		t.Errorf("after %s: %s", blockers.ScaledDownAfter, says)
	}
	away.lasting(nil, began.Add(blockers.ScaledDownAfter)) // it cannot be seen, or is back
	if says := away.lasting(off, began.Add(2*blockers.ScaledDownAfter)); says != "" {
		t.Errorf("after it was back: %s", says)
	}
	fell := []snapshot.Controller{{Name: "Kueue", Deployment: "b/kueue", Why: "it crashes"}}
	away = absence{}
	away.lasting(fell, began)
	if says := away.lasting(fell, began.Add(blockers.ControllerBackWithin-time.Second)); says != "" {
		t.Errorf("before %s: %s", blockers.ControllerBackWithin, says)
	}
}
