package preflight

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

func TestTheGPUIsCalledWhatTheQueueCallsIt(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	for _, covered := range []struct {
		by   []corev1.ResourceName
		name string
		says string // of a finding that is wrong
	}{
		{[]corev1.ResourceName{"nvidia.com/gpu"}, "nvidia.com/gpu", ""},
		{[]corev1.ResourceName{"cpu", "memory", "amd.com/gpu", "nvidia.com/gpu"}, "nvidia.com/gpu", ""},
		{[]corev1.ResourceName{"cpu", "gsb.lab/gpu"}, "gsb.lab/gpu", "ClusterQueue ml covers gsb.lab/gpu, and the learner's files ask for nvidia.com/gpu"},
		{[]corev1.ResourceName{"cpu", "hugepages-2Mi", "requests.kubernetes.io/x"}, "nvidia.com/gpu", "covers no GPU at all"},
	} {
		facts := theLab(pins)
		facts.ClusterQueue.Spec.ResourceGroups[0].CoveredResources = covered.by
		if name := snapshot.GpuResource(facts.ClusterQueue, pins); name != covered.name {
			t.Errorf("%v: a GPU is called %s, not %s", covered.by, name, covered.name)
		}
		finding := gpuName(facts.ClusterQueue, pins)
		if finding.Wrong() != (covered.says != "") || !strings.Contains(finding.Message, covered.says) {
			t.Errorf("%v: %+v", covered.by, finding)
		}
	}
	if finding := gpuName(nil, pins); finding.Wrong() || snapshot.GpuResource(nil, pins) != "nvidia.com/gpu" {
		t.Errorf("without a queue: %+v", finding)
	}
}

func TestAQuotaBeyondTheDevicesIsReported(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("2")
	if finding := devicesOffered(facts, pins); !strings.Contains(finding.Message, "2 × nvidia.com/gpu allocatable; the lab has 4, and the queue hands out 3, so what it admits may wait") {
		t.Errorf("%+v", finding)
	}
	// A lab that calls its GPUs otherwise is counted by its own name for them.
	group := &facts.ClusterQueue.Spec.ResourceGroups[0]
	group.CoveredResources, group.Flavors[0].Resources[0].Name = []corev1.ResourceName{"gsb.lab/gpu"}, "gsb.lab/gpu"
	facts.Nodes[0].Status.Allocatable["gsb.lab/gpu"] = resource.MustParse("4")
	if finding := devicesOffered(facts, pins); finding.Wrong() || finding.Message != "4 × gsb.lab/gpu allocatable, for a quota of 3" {
		t.Errorf("%+v", finding)
	}
}
