package preflight

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
)

// passing reports whether an error is one that a cluster gives while it boots, and
// then no longer: nobody listens yet, a connection is cut off, the API server is
// not ready, a webhook has no endpoints, a kind is not yet known. A refusal
// (Forbidden, Invalid), a certificate of another cluster and a name that nobody
// knows stay, however long one waits.
func passing(err error) bool {
	var (
		status  apierrors.APIStatus
		timeout net.Error
		group   *discovery.ErrGroupDiscoveryFailed
	)
	switch {
	case err == nil:
		return false
	case errors.As(err, &group), meta.IsNoMatchError(err):
		return true
	case errors.As(err, &status):
		code := status.Status().Code
		// What boots answers "404 page not found" before it knows its own paths.
		return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code == http.StatusNotFound
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		utilnet.IsConnectionRefused(err), utilnet.IsConnectionReset(err), utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err),
		errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EPIPE):
		return true
	}
	return errors.As(err, &timeout) && timeout.Timeout()
}

// settling reports whether what keeps the lab's pods off a node goes while the node
// boots. Somebody who cordons a node means it.
func settling(node corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for _, taint := range node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !bootTaints[taint.Key] {
			return false
		}
	}
	return true
}

// bootTaints are those that Kubernetes, a cloud's controller or the lab's boot
// takes from a node once it is ready.
var bootTaints = map[string]bool{
	corev1.TaintNodeNotReady:                         true,
	corev1.TaintNodeUnreachable:                      true,
	corev1.TaintNodeNetworkUnavailable:               true,
	"node.cloudprovider.kubernetes.io/uninitialized": true,
	"node-role.kubernetes.io/control-plane":          true,
}
