// Package preflight answers whether a cluster is the lab: it collects facts and makes
// findings of them.
package preflight

import (
	"fmt"

	"gsb.test/jobset-e2e/fixtures"
)

// remake is the mend for a lab that this project made.
const remakeFix = "make down up, if the lab is this project's; else "

// Preflight judges a site, point by point and all points: is this the lab that
// the lab text promises? It blames the world and not a step.
func Judge(site *Facts, pins fixtures.Pins) []Finding {
	if site.Unreachable != nil {
		return []Finding{Unreachable(site)}
	}
	findings := []Finding{{Check: "cluster", Message: fmt.Sprintf("Kubernetes %s at %s", site.Kubernetes, site.Server)}}
	for _, err := range site.Unread {
		findings = append(findings, Finding{Check: "reading", Message: err.Error(),
			Fix: "the kubeconfig must let its user read everything and write in namespace " + pins.Namespace, Passes: passing(err)})
	}
	if site.Unheld != nil {
		findings = append(findings, Finding{Check: "other runs", Message: "nothing keeps a second run off this lab meanwhile", Note: site.Unheld.Error()})
	}
	if site.Fault != "" {
		findings = append(findings, faultLeft(site))
	}
	// What is told first is the first that is wrong, so causes stand before what
	// they bring about: Kueue before JobSet, whose dry run passes Kueue's webhooks
	// too; a quota before the devices that it hands out, and before what leads to it.
	return append(findings,
		nodeReady(site.Nodes),
		nodeNamed(site.Nodes, site.Host),
		diskHasRoom(site.Kubelet),
		imagePresent(site, pins),
		managerAvailable("Kueue", site.Kueue, pins.Kueue, site.KueueWebhook, true),
		certificatesMatch("Kueue", site.Kueue, site.KueueCertificates),
		managerAvailable("JobSet", site.JobSet, pins.JobSet, site.JobSetWebhook, site.HasNamespace),
		certificatesMatch("JobSet", site.JobSet, site.JobSetCertificates),
		jobSetsQueued(site),
		gpuName(site.ClusterQueue, pins),
		namespaceClean(site, pins),
		limitsAllow(site, pins),
		dnsAnswers(site, pins),
		queueAdmits(site, pins),
		flavorFits(site, pins),
		quotaMatches(site.ClusterQueue, pins),
		queueLeads(site.LocalQueue, pins),
		devicesOffered(site, pins),
		devicesFree(site.GPUHolders),
		workDirClean(site),
	)
}
