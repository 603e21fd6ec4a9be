package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/fixtures"
)

const (
	// shellLives is how long a shell may stay on the node, whatever becomes of the
	// program: it is a privileged pod.
	shellLives = time.Hour
	// closesWithin bounds the removal of a shell, after an interrupt too.
	closesWithin = 15 * time.Second
	// keptImage is a second name of the image that the shell runs. Fault
	// image-missing gives it, so that a shell can be started meanwhile.
	keptImage = "gsb-jobset.test/fault-shell:kept"
)

// A shell runs commands on the lab's node through nothing but the kubeconfig: a
// privileged pod there enters the namespaces of the node's first process. It is
// in kube-system, which Kueue's webhooks leave alone, and is placed without the
// scheduler, so that it comes up in a broken lab too.
type shell struct {
	execer
	lab   *cluster.Cluster
	runID string
	pod   *corev1.Pod
}

// openShell starts the pod and waits until it runs. adopt takes one that still
// runs: what an earlier run broke may keep a new one from starting.
func openShell(ctx context.Context, lab *cluster.Cluster, run string, adopt bool) (*shell, error) {
	s := &shell{lab: lab, runID: run}
	s.execer = s.exec
	if adopt {
		left, err := shells(ctx, lab.Client())
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(left, runs); at >= 0 {
			s.pod = &left[at]
			return s, nil
		}
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// runs reports whether commands can be run in a pod.
func runs(pod corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// shells lists the shells of all runs.
func shells(ctx context.Context, from client.Client) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := from.List(ctx, &pods, client.InNamespace(metav1.NamespaceSystem), client.HasLabels{fixtures.FaultShell}); err != nil {
		return nil, fmt.Errorf("looking for shells on the node: %w", err)
	}
	return pods.Items, nil
}

func (s *shell) open(ctx context.Context) error {
	err := s.start(ctx, s.lab.Pins.Image)
	var missing *imageMissing
	if !errors.As(err, &missing) {
		return err
	}
	if _, err := removeShells(ctx, s.lab.Client()); err != nil {
		return err
	}
	if kept := s.start(ctx, keptImage); kept != nil {
		return errors.Join(err, kept)
	}
	return nil
}

// An imageMissing is a shell that does not start for want of its image.
type imageMissing struct{ image, reason string }

func (e *imageMissing) Error() string {
	return fmt.Sprintf("the shell on the node cannot start: image %s: %s", e.image, e.reason)
}

// start starts a pod of that image and waits until it runs.
func (s *shell) start(ctx context.Context, image string) error {
	var nodes corev1.NodeList
	if err := s.lab.Client().List(ctx, &nodes); err != nil {
		return fmt.Errorf("listing the nodes: %w", err)
	}
	if len(nodes.Items) != 1 {
		return fmt.Errorf("there are %d nodes, and the lab has one", len(nodes.Items))
	}
	pod := shellPod(s.runID, nodes.Items[0].Name, image)
	if err := s.lab.Client().Create(ctx, pod); err != nil {
		return fmt.Errorf("starting a shell on the node: %w", err)
	}
	s.pod = pod
	var missing error
	err := (&Injection{client: s.lab.Client()}).until(ctx, "the shell on the node to run", func(ctx context.Context) (string, error) {
		if err := s.lab.Client().Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return "", err
		}
		for _, container := range pod.Status.ContainerStatuses {
			if waiting := container.State.Waiting; waiting != nil && slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"}, waiting.Reason) {
				missing = &imageMissing{image, waiting.Message}
				return "", missing
			}
		}
		if !runs(*pod) {
			return "it is " + string(pod.Status.Phase), nil
		}
		return "", nil
	})
	if missing != nil {
		return missing
	}
	return err
}

func shellPod(run, node, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "fault-shell-", Namespace: metav1.NamespaceSystem,
			Labels: map[string]string{fixtures.FaultShell: run}, Annotations: map[string]string{fixtures.RunAnnotation: run}},
		Spec: corev1.PodSpec{
			NodeName: node, HostPID: true, HostNetwork: true,
			ActiveDeadlineSeconds:         ptr.To(int64(shellLives / time.Second)),
			AutomountServiceAccountToken:  ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](0),
			RestartPolicy:                 corev1.RestartPolicyNever,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "shell", Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         []string{"sleep", fmt.Sprint(int64(shellLives / time.Second))},
				SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
			}},
		},
	}
}

// exec runs a script on the node. Where that fails and the pod is gone or has
// ended, as after a restart of the node, the next try finds a new one.
func (s *shell) exec(ctx context.Context, script string, args ...string) (string, error) {
	command := append([]string{"nsenter", "--target", "1", "--mount", "--uts", "--ipc", "--net", "--pid", "--", "sh", "-ec", script, "sh"}, args...)
	peek, cancel := context.WithTimeout(ctx, onePeek)
	defer cancel()
	printed, err := s.lab.Run(peek, s.pod, command...)
	if err == nil {
		return printed, nil
	}
	err = unadorned(err)
	live := s.pod.DeepCopy()
	found := s.lab.Client().Get(ctx, client.ObjectKeyFromObject(s.pod), live)
	if client.IgnoreNotFound(found) == nil && (found != nil || !runs(*live)) {
		return "", errors.Join(err, s.open(ctx))
	}
	return "", err
}

// unadorned is an error of an exec without the command line, which is a script of ours.
func unadorned(err error) error {
	cause := errors.Unwrap(err)
	if cause == nil {
		return err
	}
	_, printed, _ := strings.Cut(err.Error(), cause.Error())
	return fmt.Errorf("in the shell on the node: %w%s", cause, strings.TrimSuffix(printed, ": "))
}

// close removes the shells of this run, or the one that was adopted; after an
// interrupt too, and one of which only the request to start it is known.
func (s *shell) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closesWithin)
	defer cancel()
	err := s.lab.Client().DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{fixtures.FaultShell: s.runID})
	if s.pod != nil {
		err = errors.Join(err, client.IgnoreNotFound(s.lab.Client().Delete(ctx, s.pod)))
	}
	if err != nil {
		return fmt.Errorf("removing the shell on the node: %w", err)
	}
	return nil
}

// removeShells removes what earlier runs left of their shells, of which no run
// is under way.
func removeShells(ctx context.Context, from client.Client) (names []string, err error) {
	left, err := shells(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, pod := range left {
		if err := from.Delete(ctx, &pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return names, fmt.Errorf("removing the shell %s that an earlier run left on the node: %w", pod.Name, err)
		}
		names = append(names, pod.Name)
	}
	return names, nil
}
