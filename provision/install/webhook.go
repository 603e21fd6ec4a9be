package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/provision/poll"
)

// manager is a controller manager with a webhook, as named in its release.
type manager struct {
	name, namespace, deployment string
	// service is that of the webhook; secret contains its certificate.
	service, secret string
	// authority is the certificate authority's name that the manager's rotator expects.
	authority string
}

// dnsName is the name by which the API server calls the webhook.
func (m manager) dnsName() string { return m.service + "." + m.namespace + ".svc" }

// prepare applies what the manager needs to start. It starts nothing and changes no
// behaviour of the cluster.
func (c *Cluster) prepare(ctx context.Context, m manager, objects ranked) error {
	if err := c.apply(ctx, objects, rankNamespace, rankDefinition, rankPlain); err != nil {
		return err
	}
	return ensureCertificate(ctx, c, m)
}

// start applies the webhooks and the Deployment. It returns when the manager is rolled
// out, the webhook's Service has exactly its pods as endpoints, and a dry-run create
// of every probe succeeds. An Available Deployment does not guarantee the last two.
func (c *Cluster) start(ctx context.Context, m manager, objects ranked, probes ...client.Object) error {
	if err := c.apply(ctx, objects, rankWebhook, rankWorkload); err != nil {
		return err
	}
	err := poll.For(ctx, m.name+"'s webhook to answer", func(ctx context.Context) error {
		deployment := &appsv1.Deployment{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: m.deployment}, deployment); err != nil {
			return err
		}
		pods, err := c.podsOf(ctx, m.namespace, deployment.Spec.Selector)
		if err != nil {
			return err
		}
		if err := rolledOut(deployment, pods); err != nil {
			return err
		}
		endpoints := &discoveryv1.EndpointSliceList{}
		if err := c.List(ctx, endpoints, client.InNamespace(m.namespace),
			client.MatchingLabels{discoveryv1.LabelServiceName: m.service}); err != nil {
			return err
		}
		if err := leadsTo(m.service, endpoints.Items, pods); err != nil {
			return err
		}
		for _, probe := range probes {
			if err := c.Create(ctx, probe.DeepCopyObject().(client.Object), client.DryRunAll); err != nil {
				return fmt.Errorf("dry-run create of a %T in namespace %q: %w", probe, probe.GetNamespace(), err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w\nsee: kubectl --kubeconfig %s -n %s describe pods; kubectl --kubeconfig %s -n %s logs deployment/%s",
			err, c.kubeconfig, m.namespace, c.kubeconfig, m.namespace, m.deployment)
	}
	return nil
}

// podsOf lists the pods that a workload selects, without those being deleted.
func (c *Cluster) podsOf(ctx context.Context, namespace string, selector *metav1.LabelSelector) ([]corev1.Pod, error) {
	labels, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of a workload in %s: %w", namespace, err)
	}
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil }), nil
}

// rolledOut is nil if every pod of a Deployment is of its present template and
// available. It is a permanent error if a pod's image is not in the node.
func rolledOut(deployment *appsv1.Deployment, pods []corev1.Pod) error {
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	status := deployment.Status
	if status.ObservedGeneration >= deployment.Generation && wanted > 0 && status.Replicas == wanted &&
		status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted {
		return nil
	}
	if err := lacksImage(pods, deployment.Spec.Template.Spec); err != nil {
		return err
	}
	seen := fmt.Sprintf("Deployment %s: %d of %d replicas updated, %d available",
		deployment.Name, status.UpdatedReplicas, wanted, status.AvailableReplicas)
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			seen += "; " + condition.Message
		}
	}
	return poll.Pending(seen + describe(pods))
}

// lacksImage is an error if a pod waits for an image. Every image is in the node
// before the cluster starts, so waiting does not help. Pods of an older template are
// ignored: they are being replaced.
func lacksImage(pods []corev1.Pod, template corev1.PodSpec) error {
	wanted := map[string]bool{}
	for _, container := range template.Containers {
		wanted[container.Image] = true
	}
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			waiting := status.State.Waiting
			if waiting == nil || !wanted[status.Image] {
				continue
			}
			switch waiting.Reason {
			case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName":
				return fmt.Errorf("image %s of pod %s is not in the node (%s: %s)",
					status.Image, pod.Name, waiting.Reason, waiting.Message)
			}
		}
	}
	return nil
}

// describe says why each pod is not ready.
func describe(pods []corev1.Pod) string {
	var summary strings.Builder
	for _, pod := range pods {
		if isReady(pod) {
			continue
		}
		fmt.Fprintf(&summary, "; pod %s is %s", pod.Name, pod.Status.Phase)
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				fmt.Fprintf(&summary, ", %s: %s", condition.Reason, condition.Message)
			}
		}
		for _, status := range pod.Status.ContainerStatuses {
			if waiting := status.State.Waiting; waiting != nil {
				fmt.Fprintf(&summary, ", container %s waits: %s %s", status.Name, waiting.Reason, waiting.Message)
			}
			if last := status.LastTerminationState.Terminated; last != nil {
				fmt.Fprintf(&summary, ", container %s ended before: %s, exit code %d", status.Name, last.Reason, last.ExitCode)
			}
		}
	}
	return summary.String()
}

func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

// leadsTo is nil if a Service's ready endpoints are exactly the addresses of the ready
// pods. Calls to the address of a deleted pod hang.
func leadsTo(service string, endpoints []discoveryv1.EndpointSlice, pods []corev1.Pod) error {
	var have, want []string
	for _, slice := range endpoints {
		for _, endpoint := range slice.Endpoints {
			// A missing condition means ready, by the API's definition.
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				have = append(have, endpoint.Addresses...)
			}
		}
	}
	for _, pod := range pods {
		if isReady(pod) {
			want = append(want, pod.Status.PodIP)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(slices.Compact(have), want) {
		return poll.Pendingf("Service %s leads to %v, the ready pods are %v", service, have, want)
	}
	return nil
}
