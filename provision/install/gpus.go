package install

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/poll"
)

// The device plugin's DaemonSet, as named in its manifest (provision/fakegpu).
const (
	GpuNamespace = "kube-system"
	GpuDaemonSet = "fake-gpu"
)

// GPUs installs the device plugin and waits until the node offers the lab's number of
// GPUs.
func GPUs(ctx context.Context, c *Cluster, set images.Set) (string, error) {
	pins := c.pins
	objects, err := readManifest(set.GPUManifest)
	if err != nil {
		return "", err
	}
	if err := c.apply(ctx, objects, rankNamespace, rankPlain, rankWorkload); err != nil {
		return "", err
	}
	what := fmt.Sprintf("%d × %s to be allocatable", pins.GPUs, pins.GPUResource)
	err = poll.For(ctx, what, func(ctx context.Context) error {
		plugin := &appsv1.DaemonSet{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: GpuNamespace, Name: GpuDaemonSet}, plugin); err != nil {
			return err
		}
		pods, err := c.podsOf(ctx, GpuNamespace, plugin.Spec.Selector)
		if err != nil {
			return err
		}
		if err := runsEverywhere(plugin, pods); err != nil {
			return err
		}
		nodes := &corev1.NodeList{}
		if err := c.List(ctx, nodes); err != nil {
			return err
		}
		return offers(nodes.Items, corev1.ResourceName(pins.GPUResource), pins.GPUs)
	})
	if err != nil {
		return "", fmt.Errorf("%w\nsee: kubectl --kubeconfig %s -n %s logs daemonset/%s",
			err, c.kubeconfig, GpuNamespace, GpuDaemonSet)
	}
	return fmt.Sprintf("%d × %s allocatable", pins.GPUs, pins.GPUResource), nil
}

// runsEverywhere is nil if all pods of a DaemonSet are of its present template and
// ready, on at least one node.
func runsEverywhere(daemons *appsv1.DaemonSet, pods []corev1.Pod) error {
	status := daemons.Status
	wanted := status.DesiredNumberScheduled
	if status.ObservedGeneration >= daemons.Generation && wanted > 0 &&
		status.UpdatedNumberScheduled == wanted && status.NumberReady == wanted {
		return nil
	}
	if err := lacksImage(pods, daemons.Spec.Template.Spec); err != nil {
		return err
	}
	return poll.Pendingf("DaemonSet %s: %d of %d pods updated, %d ready%s",
		daemons.Name, status.UpdatedNumberScheduled, wanted, status.NumberReady, describe(pods))
}

// offers is nil if the nodes together offer exactly so many of a resource. Capacity
// counts as well: kubelet keeps it while the devices are unhealthy.
func offers(nodes []corev1.Node, resource corev1.ResourceName, wanted int64) error {
	var capacity, allocatable int64
	for _, node := range nodes {
		has := node.Status.Capacity[resource]
		gives := node.Status.Allocatable[resource]
		capacity += has.Value()
		allocatable += gives.Value()
	}
	if capacity != wanted || allocatable != wanted {
		return poll.Pendingf("%d nodes have %d × %s, of which %d allocatable", len(nodes), capacity, resource, allocatable)
	}
	return nil
}
