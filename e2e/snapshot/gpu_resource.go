package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/fixtures"
)

// GpuResource is what this lab calls one GPU: the extended resource that its
// ClusterQueue covers. A lab is free to call it otherwise than the learner's
// files here do; what a learner's own JobSet asks for is judged by this name.
// Where the queue does not tell, the pinned name stands.
func GpuResource(queue *kueuev1.ClusterQueue, pins fixtures.Pins) string {
	covered := ExtendedResources(queue)
	if len(covered) == 0 || slices.Contains(covered, pins.GPUResource) {
		return pins.GPUResource
	}
	return covered[0]
}

// ExtendedResources are the resources that a queue covers and that a device
// plugin offers: those with a domain of their own in front of a slash.
func ExtendedResources(queue *kueuev1.ClusterQueue) []string {
	if queue == nil {
		return nil
	}
	var covered []string
	for _, group := range queue.Spec.ResourceGroups {
		for _, resource := range group.CoveredResources {
			if isExtended(resource) && !slices.Contains(covered, string(resource)) {
				covered = append(covered, string(resource))
			}
		}
	}
	return covered
}

func isExtended(resource corev1.ResourceName) bool {
	domain, _, found := strings.Cut(string(resource), "/")
	return found && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}

func Covers(queue *kueuev1.ClusterQueue, resource corev1.ResourceName) bool {
	return slices.Contains(Covered(queue), string(resource))
}

// Covered lists the resources that a ClusterQueue has quotas for.
func Covered(queue *kueuev1.ClusterQueue) []string {
	var resources []string
	for _, group := range queue.Spec.ResourceGroups {
		for _, resource := range group.CoveredResources {
			resources = append(resources, string(resource))
		}
	}
	return resources
}

// GpusOf is how many GPUs a pod asks for, as the scheduler and Kueue count it: its
// containers and sidecars added up, or its largest ordinary init container, if that asks
// for more. An extended resource's request equals its limit and may be left out.
func GpusOf(spec corev1.PodSpec, gpu string) int64 {
	name, asked := corev1.ResourceName(gpu), *spec.DeepCopy()
	for _, containers := range [][]corev1.Container{asked.InitContainers, asked.Containers} {
		for i := range containers {
			resources := &containers[i].Resources
			if limit, limited := resources.Limits[name]; limited {
				resources.Requests = corev1.ResourceList{name: limit}
			}
		}
	}
	total := resource.PodRequests(&corev1.Pod{Spec: asked}, resource.PodResourcesOptions{})[name]
	return total.Value()
}

func (q Queue) Quota(resource string) int64 {
	var total int64
	for _, group := range q.Live.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			for _, r := range flavor.Resources {
				if string(r.Name) == resource {
					total += r.NominalQuota.Value()
				}
			}
		}
	}
	return total
}
