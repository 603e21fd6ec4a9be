package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// devicesOffered compares what the node offers with what the lab has, and with
// what the queue hands out: a quota beyond the devices admits pods that then
// wait for ever.
func devicesOffered(facts *Facts, pins fixtures.Pins) Finding {
	gpu := snapshot.GpuResource(facts.ClusterQueue, pins)
	var offered int64
	for _, node := range facts.Nodes {
		amount := node.Status.Allocatable[corev1.ResourceName(gpu)]
		offered += amount.Value()
	}
	unhealthy := unhealthyDevices(facts.Nodes, gpu)
	finding := Finding{Check: "GPUs", Message: fmt.Sprintf("%d × %s allocatable%s", offered, gpu, unhealthy)}
	var quota int64
	if facts.ClusterQueue != nil {
		quota = snapshot.Queue{Live: facts.ClusterQueue}.Quota(gpu)
	}
	if quota > 0 && quota <= offered {
		finding.Message += fmt.Sprintf(", for a quota of %d", quota)
	}
	code := DeviceCountMismatch
	switch {
	case offered == 0:
		code = DevicesNotOffered
	case unhealthy != "":
		code = DevicesUnhealthy
	}
	if offered != pins.GPUs {
		finding.Code = code
		finding.Message += fmt.Sprintf("; the lab has %d", pins.GPUs)
		finding.Fix = remakeFix + "look at the device plugin's pod and its log"
		finding.Passes = offered < pins.GPUs
	}
	if quota > offered {
		finding.Code = code
		finding.Message += fmt.Sprintf(", and the queue hands out %d, so what it admits may wait for a device for ever", quota)
		finding.Fix = remakeFix + "look at the device plugin's pod and its log, and at the ClusterQueue's quota"
	}
	return finding
}

func devicesFree(holders map[string]int64) Finding {
	finding := Finding{Check: "GPUs free", Message: "no other pod holds one"}
	if len(holders) == 0 {
		return finding
	}
	var who, delete []string
	for _, name := range slices.Sorted(maps.Keys(holders)) {
		namespace, pod, _ := strings.Cut(name, "/")
		who = append(who, fmt.Sprintf("%s holds %d", name, holders[name]))
		delete = append(delete, fmt.Sprintf("kubectl -n %s delete pod %s", namespace, pod))
	}
	finding.Code, finding.Message, finding.Fix = DevicesHeld, strings.Join(who, "; "), strings.Join(delete, "; ")+" (or what made it)"
	return finding
}
