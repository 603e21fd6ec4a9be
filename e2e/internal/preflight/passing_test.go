package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// ofJobSets are the rules of a webhook that is asked of JobSets.
var ofJobSets = []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{APIGroups: []string{"jobset.x-k8s.io"}, Resources: []string{"jobsets"}}}}

func tainted(keys ...string) func(*Facts) {
	return func(s *Facts) {
		for _, key := range keys {
			s.Nodes[0].Spec.Taints = append(s.Nodes[0].Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
}

// Each code, wrong in the ways that a booting lab shows for a while, and in those that
// waiting does not fix.
func TestWhatIsWrongHasItsCodeAndPassesOrNot(t *testing.T) {
	pins := labtest.Pinned(t)
	inactive := []metav1.Condition{{Type: "Active", Status: "False", Reason: "FlavorNotFound", Message: "no"}}
	asked := func(err error) error { return &url.Error{Op: "Get", URL: "https://127.0.0.1:6443", Err: err} }
	covered := map[snapshot.Code]bool{}
	for name, boot := range map[string]struct {
		code   snapshot.Code
		passes bool
		change func(s *Facts)
	}{
		"nothing listens":             {APIServerUnreachable, true, func(s *Facts) { s.Unreachable = asked(fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)) }},
		"no answer in time":           {APIServerUnreachable, true, func(s *Facts) { s.Unreachable = asked(context.DeadlineExceeded) }},
		"cut off":                     {APIServerUnreachable, true, func(s *Facts) { s.Unreachable = asked(fmt.Errorf("read: %w", syscall.ECONNRESET)) }},
		"the API server is not ready": {APIServerUnreachable, true, func(s *Facts) { s.Unreachable = apierrors.NewServiceUnavailable("not yet") }},
		"another cluster's certificate": {CredentialsRejected, false, func(s *Facts) {
			s.Unreachable = asked(errors.New("tls: failed to verify certificate: x509: unknown authority"))
		}},
		"another cluster's credentials": {CredentialsRejected, false, func(s *Facts) { s.Unreachable = apierrors.NewUnauthorized("no") }},
		"not a cluster":                 {APIServerUnreachable, false, func(s *Facts) { _, s.Unreachable = cluster.ParseVersion([]byte("<html>")) }},
		"a kind that is not known yet": {KindNotServed, true, func(s *Facts) {
			s.Unread = []error{fmt.Errorf("the JobSets: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "JobSet"}})}
		}},
		"a list that may not be read": {FactUnreadable, false, func(s *Facts) {
			s.Unread = []error{fmt.Errorf("the nodes: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil))}
		}},
		"a folder that may not be read": {FactUnreadable, false, func(s *Facts) { s.Unread = []error{fmt.Errorf("the work directory: %w", os.ErrPermission)} }},
		"no node":                       {NodeNotFound, true, func(s *Facts) { s.Nodes = nil }},
		"a node that is not Ready":      {NodeNotReady, true, func(s *Facts) { s.Nodes[0].Status.Conditions[0].Status = corev1.ConditionFalse }},
		"a node that still boots":       {NodeTainted, true, tainted("node.kubernetes.io/not-ready", "node-role.kubernetes.io/control-plane")},
		"a tainted node":                {NodeTainted, false, tainted("node.kubernetes.io/not-ready", "dedicated")},
		"a cordoned node":               {NodeCordoned, false, func(s *Facts) { s.Nodes[0].Spec.Unschedulable = true }},
		"a stale node":                  {NodeCountMismatch, false, func(s *Facts) { s.Nodes = append(s.Nodes, s.Nodes[0]) }},
		"another hostname":              {HostnameMismatch, false, func(s *Facts) { s.Nodes[0].Labels[corev1.LabelHostname] = "vm-2" }},
		"a full disk":                   {DiskFull, false, func(s *Facts) { s.Kubelet.Disks[0].Available = 1 }},
		"an image not yet loaded":       {ImageMissing, true, func(s *Facts) { s.Nodes[0].Status.Images = nil }},
		"an image of another name":      {ImageNameMismatch, false, func(s *Facts) { s.Nodes[0].Status.Images[0].Names = []string{"localhost/busybox:1.35.0"} }},
		"no Kueue":                      {KueueNotInstalled, true, func(s *Facts) { s.Kueue = cluster.Manager{} }},
		"Kueue is not available":        {KueueControllerUnavailable, true, func(s *Facts) { s.Kueue.Available, s.Kueue.Why = false, snapshot.ScaledToNone }},
		"no JobSet":                     {JobSetNotInstalled, true, func(s *Facts) { s.JobSet = cluster.Manager{} }},
		"a webhook without endpoints": {JobSetWebhookUnanswered, true, func(s *Facts) {
			s.JobSetWebhook = apierrors.NewInternalError(errors.New("failed calling webhook: no endpoints available"))
		}},
		"a webhook that refuses":         {JobSetWebhookUnanswered, false, func(s *Facts) { s.JobSetWebhook = apierrors.NewBadRequest("no") }},
		"no webhook registered":          {KueueWebhookNotFound, true, func(s *Facts) { s.KueueCertificates.Webhooks = nil }},
		"no caBundle yet":                {KueueCertificateUntrusted, true, func(s *Facts) { s.KueueCertificates.Webhooks[0].CABundle = nil }},
		"another authority":              {JobSetCertificateUntrusted, false, func(s *Facts) { s.JobSetCertificates.Webhooks[0].CABundle = trusting("other.svc").Webhooks[0].CABundle }},
		"the integration is off":         {IntegrationDisabled, false, func(s *Facts) { s.Interference.Queued.Spec.Suspend = nil }},
		"past a queue that is not there": {IntegrationDisabled, true, func(s *Facts) { s.Interference.Queued.Spec.Suspend, s.Kueue.Available = nil, false }},
		"another name of the GPU": {GPUNameMismatch, false, func(s *Facts) {
			s.ClusterQueue.Spec.ResourceGroups[0].CoveredResources = []corev1.ResourceName{"amd.com/gpu"}
		}},
		"no namespace":       {NamespaceNotFound, true, func(s *Facts) { s.HasNamespace = false }},
		"a learner's JobSet": {UnmanagedJobSets, false, func(s *Facts) { s.UnmanagedJobSets = []string{"mine"} }},
		"a LimitRange": {LimitsUncovered, false, func(s *Facts) {
			s.Interference.Limits = []corev1.LimitRange{limitRange("defaults", corev1.LimitTypeContainer, "memory")}
		}},
		"a namespace that goes": {NamespaceTerminating, false, func(s *Facts) { s.Terminating = "NamespaceFinalizersRemaining: configmaps" }},
		"a queue label that nobody wrote": {QueueLabelAdded, false, func(s *Facts) {
			s.Interference.Unqueued.Labels = map[string]string{constants.QueueLabel: "default"}
		}},
		"held without a queue": {UnqueuedSuspended, false, func(s *Facts) { s.Interference.Unqueued.Spec.Suspend = ptr.To(true) }},
		"a pod that a policy refuses": {PartRefused, false, func(s *Facts) {
			s.Interference.Parts[0].Err = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "preflight-x", errors.New("violates PodSecurity"))
		}},
		"a pod whose webhook boots": {PartRefused, true, func(s *Facts) {
			s.Interference.Parts[0].Err = apierrors.NewInternalError(errors.New("failed calling webhook: no endpoints available"))
		}},
		"a pod that comes back otherwise": {PartRewritten, false, func(s *Facts) {
			s.Interference.Parts[0].Rewritten = []string{"spec.containers[0].resources is gone and was map[limits:map[nvidia.com/gpu:1]]"}
		}},
		"a pod with a GPU that it did not ask for": {PartRewritten, false, func(s *Facts) {
			s.Interference.Parts[0].Pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}},
		"a webhook of nobody": {WebhookUnserved, true, func(s *Facts) {
			s.Interference.Webhooks = []admission.Webhook{{Registration: "ValidatingWebhookConfiguration trial", Name: "check.trial", Service: "gone/gone",
				Unserved: true, Demanded: true, Rules: []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{APIGroups: []string{"*"}, Resources: []string{"pods"}}}}}}
		}},
		"a JobSet without defaults": {JobSetNotDefaulted, false, func(s *Facts) {
			s.Interference.Unqueued.Spec.Network = nil
			s.Interference.Webhooks = []admission.Webhook{{Mutating: true, Service: "kueue-system/kueue-webhook-service", Rules: ofJobSets}}
		}},
		"a Job that lost its JobSet": {PartsOrphaned, false, func(s *Facts) { s.Interference.Taken = []string{"job/hello-leader-0"} }},
		"a queue of other namespaces": {NamespaceNotSelected, false, func(s *Facts) {
			s.ClusterQueue.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "gpu"}}
		}},
		"a kubelet behind a closed port": {KubeletUnreachable, true, func(s *Facts) { s.Kubelet.Unread = apierrors.NewServiceUnavailable("dial tcp: connection refused") }},
		"a kind that nobody serves": {KindNotServed, true, func(s *Facts) {
			s.Unread = []error{fmt.Errorf("the Workloads: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}})}
		}},
		"DNS at an address of nobody": {DNSAddressMismatch, false, func(s *Facts) {
			s.Kubelet.DNS, s.Interference.ServiceIPs = []string{"10.96.0.10"}, []string{"10.96.0.1"}
		}},
		"a gated pod": {PodsGated, false, func(s *Facts) {
			s.Interference.Parts[0].Pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
		}},
		"a pod for another node": {PodMatchesNoNode, false, func(s *Facts) {
			s.Interference.Parts[0].Pod.Spec.NodeSelector = map[string]string{"team": "ml"}
		}},
		"another domain": {DNSDomainMismatch, false, func(s *Facts) { s.Kubelet.Domain = "lab.internal" }},
		"a tainted flavor": {FlavorTainted, false, func(s *Facts) {
			s.Interference.Flavors[0].Spec.NodeTaints = []corev1.Taint{{Key: "spot", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
		}},
		"a rich cohort": {QuotaBorrowable, false, func(s *Facts) {
			s.ClusterQueue.Spec.CohortName, s.Interference.Borrowable, s.Interference.Lenders = "all", 8, []string{"ClusterQueue/big"}
		}},
		"a quota used up":             {ResourceQuotaExhausted, false, func(s *Facts) { s.Interference.Quotas = []corev1.ResourceQuota{podQuota("3")} }},
		"no DNS":                      {DNSUnanswered, true, func(s *Facts) { s.Interference.DNSReady = 0 }},
		"a stopped queue":             {ClusterQueueStopped, false, func(s *Facts) { s.ClusterQueue.Spec.StopPolicy = ptr.To(kueuev1.Hold) }},
		"others in the queue":         {QuotaHeld, false, func(s *Facts) { s.Interference.HoldingQuota = []string{"other/job-1"} }},
		"no flavor yet":               {FlavorNotFound, true, func(s *Facts) { s.Interference.Flavors = nil }},
		"a node without labels yet":   {FlavorMatchesNoNode, true, func(s *Facts) { s.Interference.Flavors[0].Spec.NodeLabels = map[string]string{"gpu": "a100"} }},
		"no ClusterQueue":             {ClusterQueueNotFound, true, func(s *Facts) { s.ClusterQueue = nil }},
		"a ClusterQueue not Active":   {ClusterQueueInactive, true, func(s *Facts) { s.ClusterQueue.Status.Conditions = inactive }},
		"a queue without a namespace": {NamespaceSelectorMissing, false, func(s *Facts) { s.ClusterQueue.Spec.NamespaceSelector = nil }},
		"another quota": {QuotaMismatch, false, func(s *Facts) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("2")
		}},
		"no LocalQueue":       {LocalQueueNotFound, true, func(s *Facts) { s.LocalQueue = nil }},
		"not looked at":       {LocalQueueInactive, true, func(s *Facts) { s.LocalQueue.Status.Conditions = nil }},
		"a LocalQueue astray": {LocalQueueElsewhere, false, func(s *Facts) { s.LocalQueue.Spec.ClusterQueue = "other" }},
		"no devices yet":      {DevicesNotOffered, true, func(s *Facts) { s.Nodes[0].Status.Allocatable = nil }},
		"more devices":        {DeviceCountMismatch, false, func(s *Facts) { s.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("8") }},
		"somebody's devices":  {DevicesHeld, false, func(s *Facts) { s.GPUHolders = map[string]int64{"ml/greedy": 2} }},
		"fewer devices":       {DeviceCountMismatch, true, func(s *Facts) { s.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("2") }},
		"an unhealthy device": {DevicesUnhealthy, true, func(s *Facts) {
			s.Nodes[0].Status.Capacity = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")}
			s.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("3")
		}},
		"an API server that hangs": {APIServerUnresponsive, true, func(s *Facts) {
			s.Unreachable = &cluster.Silence{Question: "for the nodes", Cause: context.DeadlineExceeded}
		}},
		"another run":                   {RunInProgress, false, func(s *Facts) { s.Occupied = errors.New("another run is on this lab") }},
		"a fault":                       {FaultLeft, false, func(s *Facts) { s.Fault = "quota-2" }},
		"a JobSet manager that is down": {JobSetControllerUnavailable, true, func(s *Facts) { s.JobSet.Available = false }},
		"no JobSet webhook registered":  {JobSetWebhookNotFound, true, func(s *Facts) { s.JobSetCertificates.Webhooks = nil }},
		"a Kueue webhook that refuses":  {KueueWebhookUnanswered, false, func(s *Facts) { s.KueueWebhook = apierrors.NewBadRequest("no") }},
		"a webhook with a certificate of another authority": {JobSetCertificateUntrusted, true, func(s *Facts) {
			s.JobSetWebhook = apierrors.NewInternalError(errors.New("failed calling webhook: tls: failed to verify certificate: x509: unknown authority"))
		}},
		"a queue of no GPU": {GPUNotCovered, false, func(s *Facts) {
			s.ClusterQueue.Spec.ResourceGroups[0].CoveredResources = []corev1.ResourceName{"cpu"}
		}},
		"a stopped LocalQueue": {LocalQueueStopped, false, func(s *Facts) { s.LocalQueue.Spec.StopPolicy = ptr.To(kueuev1.Hold) }},
		"one at the head of a strict queue": {QueueBlocked, false, func(s *Facts) {
			s.ClusterQueue.Spec.QueueingStrategy, s.Interference.WaitingForQuota = kueuev1.StrictFIFO, []string{"other/big"}
		}},
		"somebody's files":      {UnmanagedFiles, false, func(s *Facts) { s.UnmanagedFiles = []string{"/root/gsb-jobset/dns.txt"} }},
		"a name nobody knows":   {APIServerUnreachable, false, func(s *Facts) { s.Unreachable = asked(errors.New("no such host")) }},
		"an API that is behind": {FactUnreadable, true, func(s *Facts) { s.Unread = []error{apierrors.NewTooManyRequestsError("later")} }},
	} {
		facts := theLab(pins)
		boot.change(facts)
		findings := Judge(facts, pins)
		if at := slices.IndexFunc(findings, func(f Finding) bool { return f.Code == boot.code && f.Wrong() }); at < 0 {
			t.Errorf("%s: %s is not wrong:\n%s", name, boot.code, Table(findings))
		} else if findings[at].Passes != boot.passes {
			t.Errorf("%s: passes by itself: %v, not %v\n%+v", name, findings[at].Passes, boot.passes, findings[at])
		}
		for _, finding := range findings {
			if finding.Wrong() && finding.Code == "" {
				t.Errorf("%s: a finding is wrong and has no code: %+v", name, finding)
			}
		}
		covered[boot.code] = true
	}
	covered[KubeconfigNotFound] = true // of a wait before there is a lab to judge
	wrong, _ := declared(t)
	for _, code := range wrong {
		if !covered[code] {
			t.Errorf("nothing above is about %s", code)
		}
	}
	for _, finding := range Judge(theLab(pins), pins) {
		if finding.Code != "" || finding.Passes {
			t.Errorf("nothing is wrong, and it says %+v", finding)
		}
	}
}
