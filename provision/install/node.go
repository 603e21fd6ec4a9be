package install

import (
	"context"

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
