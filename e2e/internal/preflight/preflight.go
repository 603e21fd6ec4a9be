// Package preflight is the environment check: it collects facts of a cluster and
// makes findings of them, which say whether this is the lab.
package preflight

import (
	"fmt"

	"gsb.test/jobset-e2e/fixtures"
)

// remakeFix is the fix for a lab that this project made.
const remakeFix = "make down up, if the lab is this project's; else "

// Judge checks whether the facts are those of the lab that the lab text promises. It
// makes every check, whatever the others found.
func Judge(facts *Facts, pins fixtures.Pins) []Finding {
	if facts.Unreachable != nil {
		return []Finding{Unreachable(facts)}
	}
	findings := []Finding{{Check: "cluster", Message: fmt.Sprintf("Kubernetes %s at %s", facts.Kubernetes, facts.Server)}}
	if facts.Occupied != nil {
		findings = append(findings, Finding{Check: "other runs", Code: RunInProgress, Message: facts.Occupied.Error(), Fix: "wait until that run has ended"})
	}
	for _, err := range facts.Unread {
		findings = append(findings, unreadable(err, pins))
	}
	if facts.Unheld != nil {
		findings = append(findings, Finding{Check: "other runs", Code: LeaseForbidden, Message: "nothing keeps a second run off this lab meanwhile", Note: facts.Unheld.Error()})
	}
	if facts.Fault != "" {
		findings = append(findings, faultLeft(facts))
	}
	// What is reported first is the first that is wrong, so causes stand before what
	// they bring about: Kueue before JobSet, whose dry run passes Kueue's webhooks
	// too; a quota before the devices that it hands out, and before what leads to it.
	if facts.Terminating != "" {
		findings = append(findings, namespaceGoes(facts, pins))
	}
	return append(findings,
		nodeReady(facts.Nodes),
		kubeletAnswers(facts),
		nodeNamed(facts.Nodes, facts.Host),
		diskHasRoom(facts.Kubelet),
		imagePresent(facts, pins),
		webhooksServed(facts, pins),
		managerAvailable("Kueue", facts.Kueue, pins.Kueue, facts.KueueWebhook, true),
		certificatesMatch("Kueue", facts.Kueue, facts.KueueCertificates),
		jobSetsDefaulted(facts, pins),
		managerAvailable("JobSet", facts.JobSet, pins.JobSet, facts.JobSetWebhook, facts.HasNamespace && facts.Terminating == ""),
		certificatesMatch("JobSet", facts.JobSet, facts.JobSetCertificates),
		jobSetsQueued(facts, pins),
		unqueuedRuns(facts, pins),
		gpuName(facts.ClusterQueue, pins),
		namespaceClean(facts, pins),
		namesFree(facts, pins),
		limitsAllow(facts, pins),
		partsTaken(facts, pins),
		dnsAnswers(facts, pins),
		queueAdmits(facts, pins),
		flavorFits(facts, pins),
		quotaMatches(facts, pins),
		queueLeads(facts.LocalQueue, pins),
		devicesOffered(facts, pins),
		devicesFree(facts.GPUHolders),
		workDirClean(facts),
	)
}
