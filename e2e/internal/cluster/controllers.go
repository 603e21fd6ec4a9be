package cluster

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

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
