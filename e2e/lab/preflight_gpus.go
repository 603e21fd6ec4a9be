package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/fixtures"
)

// devicesOffered compares what the node offers with what the lab has, and with
// what the queue hands out: a quota beyond the devices admits pods that then
// wait for ever.
func devicesOffered(site *Site, pins fixtures.Pins) Finding {
	gpu := gpuResource(site.ClusterQueue, pins)
	var offered int64
	for _, node := range site.Nodes {
		amount := node.Status.Allocatable[corev1.ResourceName(gpu)]
		offered += amount.Value()
	}
	finding := Finding{What: "GPUs", Says: fmt.Sprintf("%d × %s allocatable%s", offered, gpu, illDevices(site.Nodes, gpu))}
	var quota int64
	if site.ClusterQueue != nil {
		quota = Queue{live: site.ClusterQueue}.quota(gpu)
	}
	if quota > 0 && quota <= offered {
		finding.Says += fmt.Sprintf(", for a quota of %d", quota)
	}
	if offered != pins.GPUs {
		finding.Says += fmt.Sprintf("; the lab has %d", pins.GPUs)
		finding.Mend = remake + "look at the device plugin's pod and its log"
		finding.Passes = offered < pins.GPUs
	}
	if quota > offered {
		finding.Says += fmt.Sprintf(", and the queue hands out %d, so what it admits may wait for a device for ever", quota)
		finding.Mend = remake + "look at the device plugin's pod and its log, and at the ClusterQueue's quota"
	}
	return finding
}

func devicesFree(holders map[string]int64) Finding {
	finding := Finding{What: "GPUs free", Says: "no other pod holds one"}
	if len(holders) == 0 {
		return finding
	}
	var who, delete []string
	for _, name := range slices.Sorted(maps.Keys(holders)) {
		namespace, pod, _ := strings.Cut(name, "/")
		who = append(who, fmt.Sprintf("%s holds %d", name, holders[name]))
		delete = append(delete, fmt.Sprintf("kubectl -n %s delete pod %s", namespace, pod))
	}
	finding.Says, finding.Mend = strings.Join(who, "; "), strings.Join(delete, "; ")+" (or what made it)"
	return finding
}
