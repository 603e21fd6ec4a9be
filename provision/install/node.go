package install

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/provision/poll"
)

// NodeReady is nil if the cluster's node is Ready.
func (c *Cluster) NodeReady(ctx context.Context) error {
	node, err := c.node(ctx)
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return poll.Pendingf("node %s is not Ready", node.Name)
}

// node is the cluster's node: kind makes one. It is Pending while there is none.
func (c *Cluster) node(ctx context.Context) (corev1.Node, error) {
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return corev1.Node{}, err
	}
	if len(nodes.Items) == 0 {
		return corev1.Node{}, poll.Pending("the API server knows no node")
	}
	return nodes.Items[0], nil
}

// RunningSince counts the pods of each namespace that are Ready and of which no
// container runs since before a given time.
func (c *Cluster) RunningSince(ctx context.Context, since time.Time) (map[string]int, error) {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods); err != nil {
		return nil, err
	}
	return runningSince(pods.Items, since), nil
}

func runningSince(pods []corev1.Pod, since time.Time) map[string]int {
	// The API server's times are in whole seconds.
	since = since.Truncate(time.Second)
	older := func(status corev1.ContainerStatus) bool {
		return status.State.Running == nil || status.State.Running.StartedAt.Time.Before(since)
	}
	running := map[string]int{}
	for _, pod := range pods {
		if isReady(pod) && pod.DeletionTimestamp == nil && !slices.ContainsFunc(pod.Status.ContainerStatuses, older) {
			running[pod.Namespace]++
		}
	}
	return running
}

// RunsAgain is nil if as many pods run since a given time as ran before it. An API
// server that has just started knows of no rights yet: no error of it is lasting.
func (c *Cluster) RunsAgain(ctx context.Context, before map[string]int, since time.Time) error {
	running, err := c.RunningSince(ctx, since)
	switch {
	case err != nil:
		return poll.Pendingf("%v", err)
	case !maps.Equal(running, before):
		return poll.Pendingf("there run %v, and there ran %v", running, before)
	}
	return nil
}
