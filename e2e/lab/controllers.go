package lab

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
)

// A Controller is whether one of the lab's two controllers is there to work.
type Controller struct {
	Name       string `json:"name"`       // JobSet or Kueue
	Deployment string `json:"deployment"` // namespace/name
	Available  bool   `json:"available"`
	Why        string `json:"why,omitempty"` // why it is not available
}

// scaledToNone is why a manager is not there that somebody switched off.
const scaledToNone = "it is scaled to 0"

// controllers looks after both, as far as they can be seen: where a reader's
// rights end at the namespace, nothing is known of them and nothing is said.
func (w *World) controllers(ctx context.Context) []Controller {
	var deployments appsv1.DeploymentList
	if err := w.client.List(ctx, &deployments); err != nil {
		return nil
	}
	var found []Controller
	for _, part := range []struct{ name, image string }{{"JobSet", "jobset"}, {"Kueue", "kueue"}} {
		if manager := findManager(deployments.Items, part.image); manager.Deployment != "" {
			found = append(found, Controller{Name: part.name, Deployment: manager.Deployment,
				Available: manager.Available, Why: manager.Why})
		}
	}
	return found
}

// heldByController finds a controller that does no work. One that was switched
// off does not come back by itself, one that fell over does.
func (s *Snapshot) heldByController() HoldUp {
	for _, controller := range s.Controllers {
		if controller.Available {
			continue
		}
		held := HoldUp{"controller", fmt.Sprintf("the %s controller does no work: Deployment %s is not available, %s",
			controller.Name, controller.Deployment, controller.Why), awayFor}
		if controller.Why == scaledToNone {
			held.For = switchedOffFor
		}
		return held
	}
	return HoldUp{}
}
