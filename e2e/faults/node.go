package faults

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/lab"
)

// onNodeFor bounds one command on the node.
const onNodeFor = time.Minute

// A shell runs commands on the lab's node through nothing but the kubeconfig: a
// privileged pod there enters the namespaces of the node's first process. It is
// in kube-system, which Kueue's webhooks leave alone, and is placed without the
// scheduler, so that it comes up in a broken lab too.
type shell struct {
	world *lab.World
	pod   *corev1.Pod
}

// openShell starts the pod and waits until it runs.
func openShell(ctx context.Context, world *lab.World) (*shell, error) {
	var nodes corev1.NodeList
	if err := world.Client().List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("listing the nodes: %w", err)
	}
	if len(nodes.Items) != 1 {
		return nil, fmt.Errorf("there are %d nodes, and the lab has one", len(nodes.Items))
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "fault-shell-", Namespace: metav1.NamespaceSystem},
		Spec: corev1.PodSpec{
			NodeName: nodes.Items[0].Name, HostPID: true, HostNetwork: true,
			AutomountServiceAccountToken:  ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](0),
			RestartPolicy:                 corev1.RestartPolicyNever,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "shell", Image: world.Pins.Image, ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         []string{"sleep", "86400"},
				SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
			}},
		},
	}
	s := &shell{world: world, pod: pod}
	if err := world.Client().Create(ctx, pod); err != nil {
		return nil, fmt.Errorf("starting a shell on the node: %w", err)
	}
	err := (&Injection{client: world.Client()}).until(ctx, "the shell on the node to run", func(ctx context.Context) (string, error) {
		if err := world.Client().Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return "", err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return "it is " + string(pod.Status.Phase), nil
		}
		return "", nil
	})
	if err != nil {
		return nil, closing(ctx, s, err)
	}
	return s, nil
}

// run runs a shell command on the node.
func (s *shell) run(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, onNodeFor)
	defer cancel()
	_, err := s.world.Run(ctx, s.pod, "nsenter", "--target", "1", "--mount", "--uts", "--ipc", "--net", "--pid", "--", "sh", "-ec", command)
	if err != nil {
		return fmt.Errorf("on the node: %w", err)
	}
	return nil
}

// close removes the pod.
func (s *shell) close(ctx context.Context) error {
	err := s.world.Client().Delete(ctx, s.pod)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the shell on the node: %w", err)
	}
	return nil
}
