package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	clientexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// Exec runs a command in a pod's first container, as kubectl exec does, and
// returns what it printed. A command that ran and failed gives an error for
// which ranAndFailed is true, beside its output.
func (w *Cluster) Exec(ctx context.Context, pod *corev1.Pod, command ...string) (string, error) {
	request := w.Clientset.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).
		SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: pod.Spec.Containers[0].Name,
		Command:   command,
		Stdout:    true,
		Stderr:    true,
	}, scheme.ParameterCodec)
	spdy, err := remotecommand.NewSPDYExecutor(w.Config, "POST", request.URL())
	if err != nil {
		return "", fmt.Errorf("preparing to exec in pod %s: %w", pod.Name, err)
	}
	websocket, err := remotecommand.NewWebSocketExecutor(w.Config, "GET", request.URL().String())
	if err != nil {
		return "", fmt.Errorf("preparing to exec in pod %s: %w", pod.Name, err)
	}
	executor, err := remotecommand.NewFallbackExecutor(websocket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return "", fmt.Errorf("preparing to exec in pod %s: %w", pod.Name, err)
	}
	var out, complaint bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &complaint}); err != nil {
		return out.String(), fmt.Errorf("kubectl exec %s -- %s: %w: %s", pod.Name, strings.Join(command, " "), err,
			strings.TrimSpace(complaint.String()))
	}
	return out.String(), nil
}

// Denied reports whether somebody let no command into the pod: an admission policy, a
// webhook, or the rights of who asks. The answer has no type of its own.
func Denied(err error) bool {
	return err != nil && !RanAndFailed(err) && (strings.Contains(err.Error(), "is forbidden") || strings.Contains(err.Error(), "denied the request"))
}

// RanAndFailed tells a command that exited with a status other than 0 from one
// that could not be run at all. 126 and 127 are what a shell and a container
// runtime give for the latter.
func RanAndFailed(err error) bool {
	var exit clientexec.CodeExitError
	return errors.As(err, &exit) && exit.Code != 126 && exit.Code != 127
}
