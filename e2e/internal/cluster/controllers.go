package cluster

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// LookAround adds to a snapshot what only matters where something does not go on: whether
// the controllers and the nodes are there to work, as far as they can be seen.
func (w *Cluster) LookAround(ctx context.Context, s *snapshot.Snapshot) {
	s.Controllers, s.Nodes = w.Controllers(ctx), w.nodes(ctx)
}

func (w *Cluster) nodes(ctx context.Context) []snapshot.Node {
	ctx, cancel := Brief(ctx)
	defer cancel()
	var nodes corev1.NodeList
	if err := w.API.List(ctx, &nodes); err != nil {
		return nil
	}
	var found []snapshot.Node
	for _, node := range nodes.Items {
		seen := snapshot.Node{Name: node.Name, NotReady: "it has not reported that it is"}
		for _, condition := range node.Status.Conditions {
			switch {
			case condition.Type != corev1.NodeReady:
			case condition.Status == corev1.ConditionTrue:
				seen.NotReady = ""
			default:
				seen.NotReady = text.ReasonAndMessage(condition.Reason, condition.Message)
			}
		}
		found = append(found, seen)
	}
	return found
}

// Controllers looks after both, as far as they can be seen: where a reader's
// rights end at the namespace, nothing is known of them and nothing is said.
func (w *Cluster) Controllers(ctx context.Context) []snapshot.Controller {
	ctx, cancel := Brief(ctx)
	defer cancel()
	var deployments appsv1.DeploymentList
	if err := w.API.List(ctx, &deployments); err != nil {
		return nil
	}
	var found []snapshot.Controller
	for _, part := range []struct{ name, image string }{{"JobSet", "jobset"}, {"Kueue", "kueue"}} {
		if manager := FindManager(deployments.Items, part.image); manager.Deployment != "" {
			found = append(found, snapshot.Controller{Name: part.name, Deployment: manager.Deployment,
				Available: manager.Available, Why: manager.Why})
		}
	}
	return found
}
