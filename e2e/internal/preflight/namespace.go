package preflight

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// limitsAllow judges what limits the lab's namespace has: the lab has none.
func limitsAllow(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "limits", Message: pins.Namespace + " has none"}
	var there []string
	for _, limits := range facts.Interference.Limits {
		there = append(there, "LimitRange "+limits.Name)
		if added := addsUncovered(limits, facts); len(added) > 0 {
			finding.Code = LimitsUncovered
			finding.Message = fmt.Sprintf("LimitRange %s gives every container a request for %s, which ClusterQueue %s does not cover, so nothing queued is ever let in",
				limits.Name, text.List(added), pins.ClusterQueue)
			finding.Fix = fmt.Sprintf("kubectl -n %s delete limitrange %s", pins.Namespace, limits.Name)
			return finding
		}
	}
	for _, quota := range facts.Interference.Quotas {
		there = append(there, "ResourceQuota "+quota.Name)
		spent := usedUp(quota)
		if len(spent) > 0 && facts.going.Some() {
			finding.Code = LimitsPresent
			finding.Message = fmt.Sprintf("ResourceQuota %s is used up: %s", quota.Name, text.List(spent))
			finding.Note = "what is deleted before the first step counts in it; if it is used up without that, a step fails by it"
			return finding
		}
		if len(spent) > 0 {
			finding.Code = ResourceQuotaExhausted
			finding.Message = fmt.Sprintf("ResourceQuota %s is used up: %s", quota.Name, text.List(spent))
			finding.Fix = fmt.Sprintf("kubectl -n %s delete resourcequota %s", pins.Namespace, quota.Name)
			return finding
		}
	}
	if len(there) > 0 {
		finding.Code = LimitsPresent
		finding.Message = pins.Namespace + " has " + text.List(there)
		finding.Note = "the lab has none, and a step that fails may fail by it"
	}
	return finding
}

// addsUncovered lists what a LimitRange makes a container ask for that has no
// place in the lab's ClusterQueue.
func addsUncovered(limits corev1.LimitRange, facts *Facts) []string {
	added := map[string]bool{}
	for _, item := range limits.Spec.Limits {
		if item.Type != corev1.LimitTypeContainer || facts.ClusterQueue == nil {
			continue
		}
		for _, defaults := range []corev1.ResourceList{item.Default, item.DefaultRequest} {
			for resource := range defaults {
				if !snapshot.Covers(facts.ClusterQueue, resource) {
					added[string(resource)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(added))
}

// usedUp lists what a ResourceQuota has nothing left of, of all that a step makes or
// asks for. A quota of no load balancers, say, is in nobody's way.
func usedUp(quota corev1.ResourceQuota) []string {
	var spent []string
	if len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil {
		return nil // it may be of other pods; the dry runs show whether it is of these
	}
	for resource, hard := range quota.Status.Hard {
		if used := quota.Status.Used[resource]; used.Cmp(hard) >= 0 && neededBySteps(string(resource)) {
			spent = append(spent, fmt.Sprintf("%s of %s %s", used.String(), hard.String(), resource))
		}
	}
	slices.Sort(spent)
	return spent
}

// neededBySteps reports whether the steps use some of what a ResourceQuota counts.
// The steps ask for no CPU, memory or storage, but a quota of those refuses every pod
// that does not ask.
func neededBySteps(resource string) bool {
	switch resource {
	case "pods", "services", "cpu", "memory":
		return true
	}
	for _, start := range []string{"requests.", "limits.", "count/pods", "count/services", "count/jobs.batch", "count/jobsets.jobset.x-k8s.io", "count/workloads.kueue.x-k8s.io"} {
		if strings.HasPrefix(resource, start) {
			return !strings.HasPrefix(resource, "requests.storage") && !strings.Contains(resource, "ephemeral-storage")
		}
	}
	return false
}

// dnsAnswers judges whether the cluster's DNS has anybody to answer.
func dnsAnswers(facts *Facts, pins fixtures.Pins) Finding {
	o := facts.Interference
	finding := Finding{Check: "DNS", Message: fmt.Sprintf("kube-system/%s leads to %s", dnsService, text.Times(o.DNSReady, "ready endpoint"))}
	switch {
	case facts.Kubelet != nil && !askable(facts.Kubelet.DNS, o.ServiceIPs):
		finding.Code = DNSAddressMismatch
		finding.Message = fmt.Sprintf("pods are told to ask DNS at %s, and no Service has that address", text.List(facts.Kubelet.DNS))
		finding.Fix = fmt.Sprintf("kubectl -n kube-system get services: Service %s must have that address (spec.clusterIP); or correct clusterDNS in the kubelet's configuration and make the pods anew", dnsService)
	case !o.HasDNS:
		finding.Message, finding.Note = "not known", "there is no Service "+dnsService+" in kube-system to look at"
	case o.DNSReady == 0:
		finding.Code = DNSUnanswered
		finding.Message = fmt.Sprintf("nobody answers DNS: Service kube-system/%s leads to no ready pod", dnsService)
		finding.Fix = "kubectl -n kube-system get deployments,pods shows what became of CoreDNS; kubectl -n kube-system scale deployment coredns --replicas 1, if it was scaled to 0"
		finding.Passes = true
	case facts.Kubelet != nil && facts.Kubelet.Domain != "" && facts.Kubelet.Domain != domain:
		finding.Code = DNSDomainMismatch
		finding.Message = fmt.Sprintf("the cluster's DNS domain is %s, so the name in the lab text, which ends in %s, does not exist", facts.Kubelet.Domain, domain)
		finding.Fix = "make the cluster anew with the domain " + domain + " (k3s: without --cluster-domain; kubeadm: networking.dnsDomain)"
	default:
		if shut := closedTo(o.Policies); len(shut) > 0 {
			finding.Code = EgressDenied
			finding.Note = fmt.Sprintf("where the network enforces NetworkPolicies, no pod in %s can ask: %s", pins.Namespace, text.List(shut))
		}
	}
	return finding
}

// askable reports whether a Service has one of the addresses at which pods ask DNS, or may
// have: it is not known of them, or they are the node's own, where a cache listens.
func askable(dns, services []string) bool {
	for _, address := range dns {
		parsed, err := netip.ParseAddr(address)
		if err != nil || !parsed.IsPrivate() || slices.Contains(services, address) {
			return true
		}
	}
	return len(dns) == 0 || len(services) == 0
}

// domain is the end of the name that step 2 asks for.
const domain = "cluster.local"

// closedTo lists the NetworkPolicies that isolate every pod and let nothing out.
func closedTo(policies []networkingv1.NetworkPolicy) []string {
	var shut []string
	for _, policy := range policies {
		everyPod := len(policy.Spec.PodSelector.MatchLabels)+len(policy.Spec.PodSelector.MatchExpressions) == 0
		if everyPod && slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) && len(policy.Spec.Egress) == 0 {
			shut = append(shut, policy.Name)
		}
	}
	return shut
}

func hasLabels(node corev1.Node, wanted map[string]string) bool {
	for key, value := range wanted {
		if found, ok := node.Labels[key]; !ok || found != value {
			return false
		}
	}
	return true
}

func pairs(labels map[string]string) string {
	var written []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		written = append(written, key+"="+labels[key])
	}
	return strings.Join(written, ", ")
}

// unhealthyDevices says how many devices a node knows of and does not offer; it is
// empty if the node offers all.
func unhealthyDevices(nodes []corev1.Node, resource string) string {
	var unhealthy, known int64
	for _, node := range nodes {
		capacity, allocatable := node.Status.Capacity[corev1.ResourceName(resource)], node.Status.Allocatable[corev1.ResourceName(resource)]
		known += capacity.Value()
		unhealthy += capacity.Value() - allocatable.Value()
	}
	if unhealthy <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d are not healthy)", unhealthy, known)
}
