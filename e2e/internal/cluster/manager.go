package cluster

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/version"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Manager is the Deployment that runs a controller, as found in the cluster.
type Manager struct {
	Deployment string // namespace/name, empty if there is none
	Version    string // the tag of its image, empty if the image has none
	Available  bool
	Why        string // why it is not available
	Selector   map[string]string
	Labels     map[string]string // of its pods
	Secrets    []string          // that its pods mount
}

// versionLabel is where Helm charts say which version they install; an image that
// is named by its digest alone says nothing.
const versionLabel = "app.kubernetes.io/version"

// FindManager finds the Deployment whose container runs an image of this name,
// in whatever namespace and under whatever name it was installed.
func FindManager(deployments []appsv1.Deployment, image string) Manager {
	for _, deployment := range deployments {
		for _, container := range deployment.Spec.Template.Spec.Containers {
			repository, tag := splitImage(container.Image)
			if path.Base(repository) != image {
				continue
			}
			found := Manager{Deployment: deployment.Namespace + "/" + deployment.Name, Version: text.Or(tag, deployment.Labels[versionLabel]),
				Why: "it has not reported that it is available", Labels: deployment.Spec.Template.Labels}
			for _, volume := range deployment.Spec.Template.Spec.Volumes {
				if volume.Secret != nil {
					found.Secrets = append(found.Secrets, volume.Secret.SecretName)
				}
			}
			if deployment.Spec.Selector != nil {
				found.Selector = deployment.Spec.Selector.MatchLabels
			}
			for _, condition := range deployment.Status.Conditions {
				if condition.Type == appsv1.DeploymentAvailable {
					found.Available = condition.Status == corev1.ConditionTrue
					found.Why = text.ReasonAndMessage(condition.Reason, condition.Message)
				}
			}
			if deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
				// A Deployment of no replicas counts as available to Kubernetes.
				found.Available, found.Why = false, snapshot.ScaledToNone
			}
			return found
		}
	}
	return Manager{}
}

// splitImage takes an image reference apart into its repository and its tag.
func splitImage(image string) (repository, tag string) {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon], image[colon+1:]
	}
	return image, ""
}

// ParseVersion reads the API server's answer to /version.
func ParseVersion(body []byte) (string, error) {
	var info version.Info
	if err := json.Unmarshal(body, &info); err != nil || info.GitVersion == "" {
		return "", fmt.Errorf("what answered is not a Kubernetes API server: %.80q", body)
	}
	return info.GitVersion, nil
}
