package preflight

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
)

// noObstacles is what surrounds a lab in which every step can be done.
func noObstacles() Interference {
	return Interference{
		Flavors: []kueuev1.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "default-flavor"}}},
		HasDNS:  true, DNSReady: 1,
		Queued: &jobsetv1.JobSet{Spec: jobsetv1.JobSetSpec{Suspend: ptr.To(true)}}, Unqueued: &jobsetv1.JobSet{Spec: jobsetv1.JobSetSpec{Network: &jobsetv1.Network{}}},
		Parts: []admission.Part{{Kind: "Pod", JobSet: "hello", Asked: aPod(), Pod: aPod()}, {Kind: "Job", JobSet: "hello"}},
	}
}

func aPod() *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "leader", Image: "busybox:1.35.0"}}}}
}

func limitRange(name string, kind corev1.LimitType, resources ...corev1.ResourceName) corev1.LimitRange {
	asked := corev1.ResourceList{}
	for _, name := range resources {
		asked[name] = resource.MustParse("1")
	}
	return corev1.LimitRange{ObjectMeta: labtest.Named(name), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: kind, DefaultRequest: asked}}}}
}

func podQuota(used string) corev1.ResourceQuota {
	return corev1.ResourceQuota{ObjectMeta: labtest.Named("few"), Status: corev1.ResourceQuotaStatus{
		Hard: corev1.ResourceList{"pods": resource.MustParse("3")}, Used: corev1.ResourceList{"pods": resource.MustParse(used)}}}
}

func TestWhatInterferesIsReported(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	for name, wrong := range map[string]struct {
		change func(s *Facts)
		says   []string
	}{
		"a held ClusterQueue": {func(s *Facts) { s.ClusterQueue.Spec.StopPolicy = ptr.To(kueuev1.Hold) },
			[]string{"is stopped (stopPolicy Hold)", `kubectl patch clusterqueue`, `"stopPolicy":"None"`}},
		"a held LocalQueue": {func(s *Facts) { s.LocalQueue.Spec.StopPolicy = ptr.To(kueuev1.HoldAndDrain) },
			[]string{"is stopped (stopPolicy HoldAndDrain)", "kubectl -n ml patch localqueue"}},
		"quota held by others": {func(s *Facts) { s.Interference.HoldingQuota = []string{"other/job-1"} }, []string{"others hold quota", "other/job-1"}},
		"StrictFIFO with one at its head": {func(s *Facts) {
			s.ClusterQueue.Spec.QueueingStrategy, s.Interference.WaitingForQuota = kueuev1.StrictFIFO, []string{"other/big"}
		}, []string{"is StrictFIFO", "other/big", "BestEffortFIFO"}},
		"no such flavor": {func(s *Facts) { s.Interference.Flavors[0].Name = "gpu" }, []string{"ResourceFlavor default-flavor, and there is none", "kubectl apply"}},
		"a flavor for another node": {func(s *Facts) {
			s.Interference.Flavors[0].Spec.NodeLabels = map[string]string{"gpu": "a100", "zone": "b"}
		},
			[]string{"no node has the labels", "gpu=a100, zone=b", "kubectl label node NODE gpu=a100 zone=b"}},
		"a JobSet that starts past the queue": {func(s *Facts) { s.Interference.Queued.Spec.Suspend = nil },
			[]string{"does not suspend a JobSet", "integrations.frameworks"}},
		"a LimitRange for cpu": {func(s *Facts) {
			s.Interference.Limits = []corev1.LimitRange{limitRange("defaults", corev1.LimitTypeContainer, "cpu", "memory")}
		},
			[]string{"LimitRange defaults gives every container a request for cpu, memory", "kubectl -n ml delete limitrange defaults"}},
		"a ResourceQuota used up": {func(s *Facts) { s.Interference.Quotas = []corev1.ResourceQuota{podQuota("3")} },
			[]string{"ResourceQuota few is used up: 3 of 3 pods", "kubectl -n ml delete resourcequota few"}},
		"no DNS": {func(s *Facts) { s.Interference.DNSReady = 0 }, []string{"nobody answers DNS", "kubectl -n kube-system"}},
		"an unhealthy device": {func(s *Facts) {
			s.Nodes[0].Status.Capacity = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")}
			s.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("3")
		}, []string{"3 × nvidia.com/gpu allocatable", "3 × nvidia.com/gpu allocatable (1 of 4 are not healthy)"}},
	} {
		t.Run(name, func(t *testing.T) {
			facts := theLab(pins)
			facts.ClusterQueue.Spec.ResourceGroups[0].CoveredResources = []corev1.ResourceName{"nvidia.com/gpu"}
			wrong.change(facts)
			reported := Blocking(Judge(facts, pins))
			for _, words := range wrong.says {
				if !strings.Contains(reported, words) {
					t.Errorf("%q is not in:\n%s", words, reported)
				}
			}
		})
	}
}

// What is unusual and stops no step is a remark, and the run goes on.
func TestWhatMayBeHarmlessIsANote(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	for name, odd := range map[string]struct {
		change func(s *Facts)
		says   string
	}{
		"StrictFIFO, and nobody waits":        {func(s *Facts) { s.ClusterQueue.Spec.QueueingStrategy = kueuev1.StrictFIFO }, "is StrictFIFO: a JobSet that is too big"},
		"somebody waits, and holds nobody up": {func(s *Facts) { s.Interference.WaitingForQuota = []string{"other/big"} }, "others wait in it: other/big"},
		"a LimitRange for what is covered": {func(s *Facts) {
			s.Interference.Limits = []corev1.LimitRange{limitRange("gpus", corev1.LimitTypeContainer, "nvidia.com/gpu")}
		}, "ml has LimitRange gpus"},
		"a LimitRange that adds no request": {func(s *Facts) {
			s.Interference.Limits = []corev1.LimitRange{limitRange("claims", corev1.LimitTypePersistentVolumeClaim, "storage")}
		}, "ml has LimitRange claims"},
		"a ResourceQuota with something left": {func(s *Facts) { s.Interference.Quotas = []corev1.ResourceQuota{podQuota("2")} }, "ml has ResourceQuota few"},
		"DNS by another name":                 {func(s *Facts) { s.Interference.HasDNS, s.Interference.DNSReady = false, 0 }, "there is no Service kube-dns"},
		"a dry run that was not answered":     {func(s *Facts) { s.Interference.Queued = nil }, "was not answered"},
		"a NetworkPolicy that lets nothing out": {func(s *Facts) {
			s.Interference.Policies = []networkingv1.NetworkPolicy{{ObjectMeta: labtest.Named("deny"), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}}}}
		}, "no pod in ml can ask: deny"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := theLab(pins)
			facts.ClusterQueue.Spec.ResourceGroups[0].CoveredResources = []corev1.ResourceName{"nvidia.com/gpu"}
			odd.change(facts)
			findings := Judge(facts, pins)
			if wrong := Blocking(findings); wrong != "" {
				t.Error(wrong)
			}
			if text := Table(findings); !strings.Contains(text, odd.says) {
				t.Errorf("nothing says %q:\n%s", odd.says, text)
			}
		})
	}
}

func TestANetworkPolicyThatLetsSomethingOutIsNotClosed(t *testing.T) {
	t.Parallel()
	policy := func(spec networkingv1.NetworkPolicySpec) networkingv1.NetworkPolicy {
		return networkingv1.NetworkPolicy{ObjectMeta: labtest.Named("p"), Spec: spec}
	}
	egress := []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	open := []networkingv1.NetworkPolicy{
		policy(networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}),
		policy(networkingv1.NetworkPolicySpec{PolicyTypes: egress, Egress: []networkingv1.NetworkPolicyEgressRule{{}}}),
		policy(networkingv1.NetworkPolicySpec{PolicyTypes: egress, PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}),
	}
	if shut := closedTo(open); len(shut) > 0 {
		t.Errorf("%v is taken for closed", shut)
	}
}
