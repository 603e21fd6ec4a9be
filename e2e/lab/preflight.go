package lab

import (
	"fmt"

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
			Mend: "the kubeconfig must let its user read everything and write in namespace " + pins.Namespace, Passes: passing(err)})
	}
	if site.Unheld != nil {
		findings = append(findings, Finding{What: "other runs", Says: "nothing keeps a second run off this lab meanwhile", Note: site.Unheld.Error()})
	}
	if site.Fault != "" {
		findings = append(findings, faultLeft(site))
	}
	// What is told first is the first that is wrong, so causes stand before what
	// they bring about: Kueue before JobSet, whose dry run passes Kueue's webhooks
	// too; a quota before the devices that it hands out, and before what leads to it.
	return append(findings,
		oneNode(site.Nodes),
		nodeNamed(site.Nodes, site.Machine),
		diskRoomy(site.Kubelet),
		imageThere(site, pins),
		managerUp("Kueue", site.Kueue, pins.Kueue, site.KueueWebhook, true),
		trusted("Kueue", site.Kueue, site.KueueTrust),
		managerUp("JobSet", site.JobSet, pins.JobSet, site.JobSetWebhook, site.HasNamespace),
		trusted("JobSet", site.JobSet, site.JobSetTrust),
		jobSetsQueued(site),
		gpuNamed(site.ClusterQueue, pins),
		namespaceThere(site, pins),
		limitsLeave(site, pins),
		dnsAnswers(site, pins),
		queueRuns(site, pins),
		flavorFits(site, pins),
		quotaStands(site.ClusterQueue, pins),
		queueLeads(site.LocalQueue, pins),
		devicesOffered(site, pins),
		devicesFree(site.Holders),
		workDirFree(site),
	)
}
