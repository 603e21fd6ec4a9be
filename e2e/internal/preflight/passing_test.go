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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

func tainted(keys ...string) func(*Facts) {
	return func(s *Facts) {
		for _, key := range keys {
			s.Nodes[0].Spec.Taints = append(s.Nodes[0].Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
}

// Each point of the preflight, wrong in the ways that a booting lab shows for a
// while, and in those that no time cures.
func TestWhatPassesByItself(t *testing.T) {
	pins := labtest.Pinned(t)
	inactive := []metav1.Condition{{Type: "Active", Status: "False", Reason: "FlavorNotFound", Message: "no"}}
	asked := func(err error) error { return &url.Error{Op: "Get", URL: "https://127.0.0.1:6443", Err: err} }
	covered := map[string]bool{}
	for name, boot := range map[string]struct {
		what   string
		passes bool
		change func(s *Facts)
	}{
		"nothing listens":             {"cluster", true, func(s *Facts) { s.Unreachable = asked(fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)) }},
		"no answer in time":           {"cluster", true, func(s *Facts) { s.Unreachable = asked(context.DeadlineExceeded) }},
		"cut off":                     {"cluster", true, func(s *Facts) { s.Unreachable = asked(fmt.Errorf("read: %w", syscall.ECONNRESET)) }},
		"the API server is not ready": {"cluster", true, func(s *Facts) { s.Unreachable = apierrors.NewServiceUnavailable("not yet") }},
		"another cluster's certificate": {"cluster", false, func(s *Facts) {
			s.Unreachable = asked(errors.New("tls: failed to verify certificate: x509: unknown authority"))
		}},
		"another cluster's credentials": {"cluster", false, func(s *Facts) { s.Unreachable = apierrors.NewUnauthorized("no") }},
		"not a cluster":                 {"cluster", false, func(s *Facts) { _, s.Unreachable = cluster.ParseVersion([]byte("<html>")) }},
		"a kind that is not known yet": {"reading", true, func(s *Facts) {
			s.Unread = []error{fmt.Errorf("the JobSets: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "JobSet"}})}
		}},
		"a list that may not be read": {"reading", false, func(s *Facts) {
			s.Unread = []error{fmt.Errorf("the nodes: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil))}
		}},
		"a folder that may not be read": {"reading", false, func(s *Facts) { s.Unread = []error{fmt.Errorf("the work directory: %w", os.ErrPermission)} }},
		"no node":                       {"node", true, func(s *Facts) { s.Nodes = nil }},
		"a node that is not Ready":      {"node", true, func(s *Facts) { s.Nodes[0].Status.Conditions[0].Status = corev1.ConditionFalse }},
		"a node that still boots":       {"node", true, tainted("node.kubernetes.io/not-ready", "node-role.kubernetes.io/control-plane")},
		"a tainted node":                {"node", false, tainted("node.kubernetes.io/not-ready", "dedicated")},
		"a cordoned node":               {"node", false, func(s *Facts) { s.Nodes[0].Spec.Unschedulable = true }},
		"a stale node":                  {"node", false, func(s *Facts) { s.Nodes = append(s.Nodes, s.Nodes[0]) }},
		"another hostname":              {"hostname", false, func(s *Facts) { s.Nodes[0].Labels[corev1.LabelHostname] = "vm-2" }},
		"a full disk":                   {"disk", false, func(s *Facts) { s.Kubelet.Disks[0].Available = 1 }},
		"an image not yet loaded":       {"image", true, func(s *Facts) { s.Nodes[0].Status.Images = nil }},
		"an image of another name":      {"image", false, func(s *Facts) { s.Nodes[0].Status.Images[0].Names = []string{"localhost/busybox:1.35.0"} }},
		"no Kueue":                      {"Kueue", true, func(s *Facts) { s.Kueue = cluster.Manager{} }},
		"Kueue is not available":        {"Kueue", true, func(s *Facts) { s.Kueue.Available, s.Kueue.Why = false, snapshot.ScaledToNone }},
		"no JobSet":                     {"JobSet", true, func(s *Facts) { s.JobSet = cluster.Manager{} }},
		"a webhook without endpoints": {"JobSet", true, func(s *Facts) {
			s.JobSetWebhook = apierrors.NewInternalError(errors.New("failed calling webhook: no endpoints available"))
		}},
		"a webhook that refuses":         {"JobSet", false, func(s *Facts) { s.JobSetWebhook = apierrors.NewBadRequest("no") }},
		"no webhook registered":          {"Kueue's trust", true, func(s *Facts) { s.KueueCertificates.Webhooks = nil }},
		"no caBundle yet":                {"Kueue's trust", true, func(s *Facts) { s.KueueCertificates.Webhooks[0].CABundle = nil }},
		"another authority":              {"JobSet's trust", false, func(s *Facts) { s.JobSetCertificates.Webhooks[0].CABundle = trusting("other.svc").Webhooks[0].CABundle }},
		"the integration is off":         {"integration", false, func(s *Facts) { s.Interference.Queued.Spec.Suspend = nil }},
		"past a queue that is not there": {"integration", true, func(s *Facts) { s.Interference.Queued.Spec.Suspend, s.Kueue.Available = nil, false }},
		"another name of the GPU": {"GPU's name", false, func(s *Facts) {
			s.ClusterQueue.Spec.ResourceGroups[0].CoveredResources = []corev1.ResourceName{"amd.com/gpu"}
		}},
		"no namespace":       {"namespace", true, func(s *Facts) { s.HasNamespace = false }},
		"a learner's JobSet": {"namespace", false, func(s *Facts) { s.UnmanagedJobSets = []string{"mine"} }},
		"a LimitRange": {"limits", false, func(s *Facts) {
			s.Interference.Limits = []corev1.LimitRange{limitRange("defaults", corev1.LimitTypeContainer, "memory")}
		}},
		"a quota used up":             {"limits", false, func(s *Facts) { s.Interference.Quotas = []corev1.ResourceQuota{podQuota("3", "3")} }},
		"no DNS":                      {"DNS", true, func(s *Facts) { s.Interference.DNSReady = 0 }},
		"a stopped queue":             {"queueing", false, func(s *Facts) { s.ClusterQueue.Spec.StopPolicy = ptr.To(kueuev1.Hold) }},
		"others in the queue":         {"queueing", false, func(s *Facts) { s.Interference.HoldingQuota = []string{"other/job-1"} }},
		"no flavor yet":               {"flavor", true, func(s *Facts) { s.Interference.Flavors = nil }},
		"a node without labels yet":   {"flavor", true, func(s *Facts) { s.Interference.Flavors[0].Spec.NodeLabels = map[string]string{"gpu": "a100"} }},
		"no ClusterQueue":             {"ClusterQueue", true, func(s *Facts) { s.ClusterQueue = nil }},
		"a ClusterQueue not Active":   {"ClusterQueue", true, func(s *Facts) { s.ClusterQueue.Status.Conditions = inactive }},
		"a queue without a namespace": {"ClusterQueue", false, func(s *Facts) { s.ClusterQueue.Spec.NamespaceSelector = nil }},
		"another quota": {"ClusterQueue", false, func(s *Facts) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("2")
		}},
		"no LocalQueue":         {"LocalQueue", true, func(s *Facts) { s.LocalQueue = nil }},
		"not looked at":         {"LocalQueue", true, func(s *Facts) { s.LocalQueue.Status.Conditions = nil }},
		"a LocalQueue astray":   {"LocalQueue", false, func(s *Facts) { s.LocalQueue.Spec.ClusterQueue = "other" }},
		"no devices yet":        {"GPUs", true, func(s *Facts) { s.Nodes[0].Status.Allocatable = nil }},
		"more devices":          {"GPUs", false, func(s *Facts) { s.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("8") }},
		"somebody's devices":    {"GPUs free", false, func(s *Facts) { s.GPUHolders = map[string]int64{"ml/greedy": 2} }},
		"somebody's files":      {"work directory", false, func(s *Facts) { s.UnmanagedFiles = []string{"/root/gsb-jobset/dns.txt"} }},
		"a name nobody knows":   {"cluster", false, func(s *Facts) { s.Unreachable = asked(errors.New("no such host")) }},
		"an API that is behind": {"reading", true, func(s *Facts) { s.Unread = []error{apierrors.NewTooManyRequestsError("later")} }},
	} {
		site := theLab(pins)
		boot.change(site)
		at := slices.IndexFunc(Judge(site, pins), func(f Finding) bool { return f.Check == boot.what && f.Wrong() })
		if at < 0 {
			t.Errorf("%s: %s is not wrong", name, boot.what)
		} else if finding := Judge(site, pins)[at]; finding.Passes != boot.passes {
			t.Errorf("%s: passes by itself: %v, not %v\n%+v", name, finding.Passes, boot.passes, finding)
		}
		covered[boot.what] = true
	}
	for _, finding := range Judge(theLab(pins), pins) {
		if !covered[finding.Check] {
			t.Errorf("nothing above is about %q", finding.Check)
		}
		if finding.Passes {
			t.Errorf("%q is not wrong, and passes", finding.Check)
		}
	}
}
