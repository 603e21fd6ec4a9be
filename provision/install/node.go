package install

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/provision/poll"
)

// NodeReady is nil if the cluster's node is Ready.
func (c *Cluster) NodeReady(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		return poll.Pending("the API server knows no node")
	}
	node := nodes.Items[0] // kind makes one
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return poll.Pendingf("node %s is not Ready", node.Name)
}
