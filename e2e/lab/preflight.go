package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/fixtures"
)

// remake is the mend for a lab that this project made.
const remake = "make down up, if the lab is this project's; else "

// Preflight judges a site, point by point and all points: is this the lab that
// the lab text promises? It blames the world and not a step.
func Preflight(site *Site, pins fixtures.Pins) []Finding {
	if site.Unreachable != nil {
		return []Finding{unreachable(site)}
	}
	findings := []Finding{{What: "cluster", Says: fmt.Sprintf("Kubernetes %s at %s", site.Kubernetes, site.Server)}}
	for _, err := range site.Unread {
		findings = append(findings, Finding{What: "reading", Says: err.Error(),
			Mend: "the kubeconfig must let its user read everything and write in namespace " + pins.Namespace})
	}
	// What is told first is the first that is wrong, so causes stand before what
	// they bring about: Kueue before JobSet, whose dry run passes Kueue's webhooks
	// too; a quota before the devices that it hands out, and before what leads to it.
	return append(findings,
		oneNode(site.Nodes),
		imageThere(site.Nodes, pins.Image),
		managerUp("Kueue", site.Kueue, pins.Kueue, site.KueueWebhook, true),
		managerUp("JobSet", site.JobSet, pins.JobSet, site.JobSetWebhook, site.HasNamespace),
		jobSetsQueued(site),
		namespaceThere(site, pins),
		limitsLeave(site, pins),
		dnsAnswers(site, pins),
		queueRuns(site, pins),
		flavorFits(site, pins),
		quotaStands(site.ClusterQueue, pins),
		queueLeads(site.LocalQueue, pins),
		devicesOffered(site.Nodes, pins),
		devicesFree(site.Holders),
		workDirFree(site.StrangeFiles),
	)
}

func oneNode(nodes []corev1.Node) Finding {
	finding := Finding{What: "node"}
	var names []string
	for _, node := range nodes {
		names = append(names, node.Name+", "+nodeState(node))
	}
	finding.Says = strings.Join(names, "; ")
	switch {
	case len(nodes) == 0:
		finding.Says, finding.Mend = "there is none", remake+"look at kubectl get nodes"
	case len(nodes) > 1:
		finding.Says = fmt.Sprintf("%d nodes where the lab has one: %s", len(nodes), finding.Says)
		finding.Mend = "kubectl delete node <the stale one>"
	case nodeState(nodes[0]) == "cordoned":
		finding.Mend = "kubectl uncordon " + nodes[0].Name
	case nodeState(nodes[0]) != "Ready":
		finding.Mend = "kubectl describe node " + nodes[0].Name + " says why"
	}
	return finding
}

func nodeState(node corev1.Node) string {
	state := "not Ready"
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			state = "Ready"
		} else {
			state = "not Ready (" + said(condition.Reason, condition.Message) + ")"
		}
	}
	if node.Spec.Unschedulable {
		return "cordoned"
	}
	for _, taint := range node.Spec.Taints {
		if state == "Ready" && taint.Effect != corev1.TaintEffectPreferNoSchedule {
			state = fmt.Sprintf("tainted %s:%s, so no pod of the lab may go there", taint.Key, taint.Effect)
		}
	}
	return state
}

func devicesOffered(nodes []corev1.Node, pins fixtures.Pins) Finding {
	var offered int64
	for _, node := range nodes {
		amount := node.Status.Allocatable[corev1.ResourceName(pins.GPUResource)]
		offered += amount.Value()
	}
	finding := Finding{What: "GPUs", Says: fmt.Sprintf("%d × %s allocatable", offered, pins.GPUResource)}
	if offered != pins.GPUs {
		finding.Says += fmt.Sprintf("%s; the lab has %d", illDevices(nodes, pins.GPUResource), pins.GPUs)
		finding.Mend = remake + "look at the device plugin's pod and its log"
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

// imagesReported is how many images the kubelet reports at most, the biggest
// first (nodeStatusMaxImages); of an image beyond them it says nothing.
const imagesReported = 50

func imageThere(nodes []corev1.Node, image string) Finding {
	finding := Finding{What: "image", Says: image + " is on the node"}
	short := strings.TrimPrefix(image, "docker.io/library/")
	for _, node := range nodes {
		names := imagesOf(node)
		local := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "localhost/") && strings.HasSuffix(name, "/"+short)
		})
		switch {
		case slices.Contains(names, image) || slices.Contains(names, short):
		case len(node.Status.Images) >= imagesReported:
			finding.Says = image + " is not among the images that the node reports"
			finding.Note = fmt.Sprintf("a node reports %d at most, so it may be there all the same", imagesReported)
		case local >= 0:
			finding.Says = fmt.Sprintf("the node has %s, and a pod looks for %s", names[local], image)
			finding.Mend = remake + fmt.Sprintf("ctr -n k8s.io images tag %s %s, on the node", names[local], image)
		default:
			finding.Says = image + " is not on the node"
			finding.Mend = remake + "crictl pull " + image + ", on the node"
		}
	}
	return finding
}

func managerUp(name string, manager Manager, pinned string, webhook error, asked bool) Finding {
	finding := Finding{What: name, Says: orNone(manager.Version) + ", webhook answers"}
	switch {
	case manager.Deployment == "":
		finding.Says = fmt.Sprintf("no Deployment runs an image named %s", strings.ToLower(name))
		finding.Mend = remake + "install " + name + " " + pinned
		return finding
	case !manager.Available:
		namespace, deployment, _ := strings.Cut(manager.Deployment, "/")
		finding.Says = fmt.Sprintf("Deployment %s is not available: %s", manager.Deployment, manager.Why)
		finding.Mend = fmt.Sprintf("kubectl -n %s describe deployment %s says why", namespace, deployment)
	case webhook != nil:
		finding.Says = "a dry run was not answered: " + webhook.Error()
		finding.Mend = "wait half a minute and try again; if it stays, kubectl -n " + strings.Replace(manager.Deployment, "/", " logs deployment/", 1)
	case !asked:
		finding.Says = orNone(manager.Version)
	}
	if strings.TrimPrefix(manager.Version, "v") != strings.TrimPrefix(pinned, "v") {
		finding.Note = "the lab pins " + pinned + ", so a run on this one is partial"
	}
	return finding
}
