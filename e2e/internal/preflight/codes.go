package preflight

import (
	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Codes of findings that are wrong. Where a step can meet the same cause, the code
// is that of the blocker or the matcher.
const (
	KubeconfigNotFound    snapshot.Code = "KubeconfigNotFound"
	APIServerUnreachable  snapshot.Code = "APIServerUnreachable"
	APIServerUnresponsive snapshot.Code = "APIServerUnresponsive"
	CredentialsRejected   snapshot.Code = "CredentialsRejected"
	FactUnreadable        snapshot.Code = "FactUnreadable"
	RunInProgress         snapshot.Code = "RunInProgress"
	FaultLeft             snapshot.Code = "FaultLeft"

	NodeNotFound      snapshot.Code = "NodeNotFound"
	NodeCountMismatch snapshot.Code = "NodeCountMismatch"
	NodeNotReady      snapshot.Code = blockers.BlockedNode
	NodeCordoned      snapshot.Code = "NodeCordoned"
	NodeTainted       snapshot.Code = "NodeTainted"
	HostnameMismatch  snapshot.Code = "HostnameMismatch"
	DiskFull          snapshot.Code = "DiskFull"
	ImageMissing      snapshot.Code = "ImageMissing"
	ImageNameMismatch snapshot.Code = "ImageNameMismatch"

	JobSetNotInstalled          snapshot.Code = "JobSetNotInstalled"
	JobSetControllerUnavailable snapshot.Code = blockers.BlockedJobSetController
	JobSetWebhookNotFound       snapshot.Code = "JobSetWebhookNotFound"
	JobSetWebhookUnanswered     snapshot.Code = "JobSetWebhookUnanswered"
	JobSetCertificateUntrusted  snapshot.Code = "JobSetCertificateUntrusted"
	KueueNotInstalled           snapshot.Code = "KueueNotInstalled"
	KueueControllerUnavailable  snapshot.Code = blockers.BlockedKueueController
	KueueWebhookNotFound        snapshot.Code = "KueueWebhookNotFound"
	KueueWebhookUnanswered      snapshot.Code = "KueueWebhookUnanswered"
	KueueCertificateUntrusted   snapshot.Code = "KueueCertificateUntrusted"
	IntegrationDisabled         snapshot.Code = "IntegrationDisabled"
	QueueLabelAdded             snapshot.Code = "QueueLabelAdded"
	UnqueuedSuspended           snapshot.Code = "UnqueuedSuspended"

	NamespaceNotFound        snapshot.Code = "NamespaceNotFound"
	NamespaceTerminating     snapshot.Code = "NamespaceTerminating"
	UnmanagedJobSets         snapshot.Code = "UnmanagedJobSets"
	UnmanagedFiles           snapshot.Code = "UnmanagedFiles"
	LimitsUncovered          snapshot.Code = "LimitsUncovered"
	ResourceQuotaExhausted   snapshot.Code = "ResourceQuotaExhausted"
	PartRefused              snapshot.Code = "PartRefused"
	PartRewritten            snapshot.Code = "PartRewritten"
	WebhookUnserved          snapshot.Code = "WebhookUnserved"
	JobSetNotDefaulted       snapshot.Code = "JobSetNotDefaulted"
	PodsGated                snapshot.Code = "PodsGated"
	PodMatchesNoNode         snapshot.Code = "PodMatchesNoNode"
	DNSAddressMismatch       snapshot.Code = "DNSAddressMismatch"
	KubeletUnreachable       snapshot.Code = "KubeletUnreachable"
	KindNotServed            snapshot.Code = "KindNotServed"
	PartsOrphaned            snapshot.Code = "PartsOrphaned"
	DNSUnanswered            snapshot.Code = blockers.BlockedDNS
	DNSDomainMismatch        snapshot.Code = "DNSDomainMismatch"
	GPUNotCovered            snapshot.Code = "GPUNotCovered"
	GPUNameMismatch          snapshot.Code = "GPUNameMismatch"
	ClusterQueueNotFound     snapshot.Code = matchers.ClusterQueueNotFound
	ClusterQueueStopped      snapshot.Code = "ClusterQueueStopped"
	ClusterQueueInactive     snapshot.Code = "ClusterQueueInactive"
	NamespaceSelectorMissing snapshot.Code = "NamespaceSelectorMissing"
	NamespaceNotSelected     snapshot.Code = "NamespaceNotSelected"
	QuotaMismatch            snapshot.Code = "QuotaMismatch"
	QuotaHeld                snapshot.Code = "QuotaHeld"
	QueueBlocked             snapshot.Code = "QueueBlocked"
	LocalQueueNotFound       snapshot.Code = "LocalQueueNotFound"
	LocalQueueStopped        snapshot.Code = "LocalQueueStopped"
	LocalQueueInactive       snapshot.Code = "LocalQueueInactive"
	LocalQueueElsewhere      snapshot.Code = "LocalQueueElsewhere"
	FlavorNotFound           snapshot.Code = "FlavorNotFound"
	FlavorMatchesNoNode      snapshot.Code = "FlavorMatchesNoNode"
	FlavorTainted            snapshot.Code = "FlavorTainted"
	QuotaBorrowable          snapshot.Code = "QuotaBorrowable"

	DevicesNotOffered   snapshot.Code = "DevicesNotOffered"
	DevicesUnhealthy    snapshot.Code = "DevicesUnhealthy"
	DeviceCountMismatch snapshot.Code = "DeviceCountMismatch"
	DevicesHeld         snapshot.Code = "DevicesHeld"
)

// Codes of findings that carry only a note.
const (
	LeaseForbidden        snapshot.Code = "LeaseForbidden"
	DiskNearlyFull        snapshot.Code = "DiskNearlyFull"
	ImageNotReported      snapshot.Code = "ImageNotReported"
	JobSetVersionMismatch snapshot.Code = "JobSetVersionMismatch"
	KueueVersionMismatch  snapshot.Code = "KueueVersionMismatch"
	LimitsPresent         snapshot.Code = "LimitsPresent"
	EgressDenied          snapshot.Code = "EgressDenied"
	QueueIsStrictFIFO     snapshot.Code = "QueueIsStrictFIFO"
	WorkloadsPending      snapshot.Code = "WorkloadsPending"
	PartsChanged          snapshot.Code = "PartsChanged"
	FlavorWithTopology    snapshot.Code = "FlavorWithTopology"
	CohortPresent         snapshot.Code = "CohortPresent"
	AdmissionChecksAsked  snapshot.Code = "AdmissionChecksAsked"
)

// managerCodes are the codes of one controller's manager.
type managerCodes struct {
	notInstalled, unavailable, webhookNotFound, webhookUnanswered, certificateUntrusted, versionMismatch snapshot.Code
}

var codesOf = map[string]managerCodes{
	"JobSet": {JobSetNotInstalled, JobSetControllerUnavailable, JobSetWebhookNotFound, JobSetWebhookUnanswered, JobSetCertificateUntrusted, JobSetVersionMismatch},
	"Kueue":  {KueueNotInstalled, KueueControllerUnavailable, KueueWebhookNotFound, KueueWebhookUnanswered, KueueCertificateUntrusted, KueueVersionMismatch},
}
