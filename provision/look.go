package provision

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// nodeIsReady tells whether the cluster's node is Ready.
func (c *cluster) nodeIsReady(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		return pendingError("the API server knows no node")
	}
	node := nodes.Items[0] // kind makes one
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return pendingf("node %s is not Ready", node.Name)
}
