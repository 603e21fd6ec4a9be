package lab

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/fixtures"
)

// gpuResource is what this lab calls one GPU: the extended resource that its
// ClusterQueue covers. A lab is free to call it otherwise than the learner's
// files here do; what a learner's own JobSet asks for is judged by this name.
// Where the queue does not tell, the pinned name stands.
func gpuResource(queue *kueuev1.ClusterQueue, pins fixtures.Pins) string {
	covered := extendedResources(queue)
	if len(covered) == 0 || slices.Contains(covered, pins.GPUResource) {
		return pins.GPUResource
	}
	return covered[0]
}

// extendedResources are the resources that a queue covers and that a device
// plugin offers: those with a domain of their own in front of a slash.
func extendedResources(queue *kueuev1.ClusterQueue) []string {
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

// gpuNamed compares what the queue calls a GPU with what the learner's files do.
func gpuNamed(queue *kueuev1.ClusterQueue, pins fixtures.Pins) Finding {
	name := gpuResource(queue, pins)
	finding := Finding{What: "GPU's name", Says: name + ", in the ClusterQueue and in the learner's files"}
	switch covered := extendedResources(queue); {
	case queue == nil:
		finding.Says = name + " in the learner's files; there is no ClusterQueue to compare with"
	case len(covered) == 0:
		finding.Says = fmt.Sprintf("ClusterQueue %s covers no GPU at all, and the learner's files ask for %s", pins.ClusterQueue, name)
		finding.Mend = remake + "kubectl apply -f fixtures/lab/lab.yaml"
	case name != pins.GPUResource:
		finding.Says = fmt.Sprintf("ClusterQueue %s covers %s, and the learner's files ask for %s: Kueue would never admit them",
			pins.ClusterQueue, strings.Join(covered, " and "), pins.GPUResource)
		finding.Mend = fmt.Sprintf("let the device plugin offer %s and the ClusterQueue cover it; or, where the lab text says %s, "+
			"write that in fixtures/steps/{train,big}.yaml and fixtures/lab/{versions,lab}.yaml and build the suite anew", pins.GPUResource, name)
	}
	return finding
}
