package preflight

import (
	"fmt"
	"strings"

	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// gpuName compares the queue's name of a GPU with that in the learner's files.
func gpuName(queue *kueuev1.ClusterQueue, pins fixtures.Pins) Finding {
	name := snapshot.GpuResource(queue, pins)
	finding := Finding{Check: "GPU's name", Message: name + ", in the ClusterQueue and in the learner's files"}
	switch covered := snapshot.ExtendedResources(queue); {
	case queue == nil:
		finding.Message = name + " in the learner's files; there is no ClusterQueue to compare with"
	case len(covered) == 0:
		finding.Code = GPUNotCovered
		finding.Message = fmt.Sprintf("ClusterQueue %s covers no GPU at all, and the learner's files ask for %s", pins.ClusterQueue, name)
		finding.Fix = remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
	case name != pins.GPUResource:
		finding.Code = GPUNameMismatch
		finding.Message = fmt.Sprintf("ClusterQueue %s covers %s, and the learner's files ask for %s: Kueue would never admit them",
			pins.ClusterQueue, strings.Join(covered, " and "), pins.GPUResource)
		finding.Fix = fmt.Sprintf("let the device plugin offer %s and the ClusterQueue cover it; or, where the lab text says %s, "+
			"write that in fixtures/steps/{train,big}.yaml and fixtures/lab/{versions,lab}.yaml and build the suite anew", pins.GPUResource, name)
	}
	return finding
}
