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
	var err error
	s.Controllers, err = w.controllers(ctx)
	_ = w.unlessForbidden(s, "deployments.apps", err)
	s.Nodes, err = w.nodes(ctx)
	_ = w.unlessForbidden(s, "nodes", err)
}

func (w *Cluster) nodes(ctx context.Context) ([]snapshot.Node, error) {
	ctx, cancel := Brief(ctx)
	defer cancel()
	var nodes corev1.NodeList
	if err := w.API.List(ctx, &nodes); err != nil {
		return nil, err
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
	return found, nil
}

// Controllers looks after both, as far as they can be seen: where a reader's
// rights end at the namespace, nothing is known of them and nothing is said.
func (w *Cluster) Controllers(ctx context.Context) []snapshot.Controller {
	found, _ := w.controllers(ctx)
	return found
}

func (w *Cluster) controllers(ctx context.Context) ([]snapshot.Controller, error) {
	ctx, cancel := Brief(ctx)
	defer cancel()
	var deployments appsv1.DeploymentList
	if err := w.API.List(ctx, &deployments); err != nil {
		return nil, err
	}
	var found []snapshot.Controller
	for _, part := range []struct{ name, image string }{{"JobSet", "jobset"}, {"Kueue", "kueue"}} {
		if manager := FindManager(deployments.Items, part.image); manager.Deployment != "" {
			found = append(found, snapshot.Controller{Name: part.name, Deployment: manager.Deployment,
				Available: manager.Available, Why: manager.Why})
		}
	}
	return found, nil
}
