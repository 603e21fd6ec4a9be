package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/poll"
)

// mostReported is how many images a kubelet reports at most (nodeStatusMaxImages).
const mostReported = 50

// StepsImage waits until kubelet reports the image of the steps. Kubelet lists its
// images twice a minute, so it reports a loaded image later than the node's
// containerd.
func StepsImage(ctx context.Context, c *Cluster, _ images.Set) (string, error) {
	pins := c.pins
	err := poll.For(ctx, "kubelet to report image "+pins.Image, func(ctx context.Context) error {
		nodes := &corev1.NodeList{}
		if err := c.List(ctx, nodes); err != nil {
			return err
		}
		return reported(nodes.Items, pins.Image)
	})
	return pins.Image + ", reported by kubelet", err
}

// reported is nil if every node reports an image.
func reported(nodes []corev1.Node, image string) error {
	short := strings.TrimPrefix(image, "docker.io/library/")
	for _, node := range nodes {
		there := slices.ContainsFunc(node.Status.Images, func(known corev1.ContainerImage) bool {
			return slices.Contains(known.Names, image) || slices.Contains(known.Names, short)
		})
		if !there && len(node.Status.Images) < mostReported {
			return poll.Pending(fmt.Sprintf("node %s reports %d images, and %s is none of them", node.Name, len(node.Status.Images), image))
		}
	}
	return nil
}
