package preflight

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/fixtures"
)

// theLab are the facts of a lab that is as the lab text promises it.
func theLab(pins fixtures.Pins) *Facts {
	isActive := []metav1.Condition{{Type: "Active", Status: metav1.ConditionTrue, Reason: "Ready"}}
	return &Facts{
		Server: "https://127.0.0.1:6443", Kubeconfig: "/lab/kubeconfig", Kubernetes: "v1.36.3", HasNamespace: true,
		Nodes: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "lab", Labels: map[string]string{corev1.LabelHostname: "lab"}}, Status: corev1.NodeStatus{
			Addresses:   []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.2"}, {Type: corev1.NodeHostName, Address: "lab"}},
			NodeInfo:    corev1.NodeSystemInfo{MachineID: "3d12"},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")},
			Images:      []corev1.ContainerImage{{Names: []string{"docker.io/library/busybox@sha256:1", pins.Image}}},
		}}},
		Host: Host{ID: "3d12", Hostname: "Lab"},
		Kubelet: &cluster.Kubelet{ImagesReported: imagesReported, CollectFrom: 85, MaximumAge: "0s", Disks: []cluster.Disk{
			{Name: "images", Available: 60 << 30, Capacity: 100 << 30, Evict: "5%"}, {Name: "node", Available: 60 << 30, Capacity: 100 << 30, Evict: "5%"}}},
		Image:              pins.Image,
		JobSetCertificates: trusting("jobset-webhook-service.jobset-system.svc"), KueueCertificates: trusting("kueue-webhook-service.kueue-system.svc"),
		JobSet:       cluster.Manager{Deployment: "jobset-system/jobset-controller-manager", Version: pins.JobSet, Available: true},
		Kueue:        cluster.Manager{Deployment: "kueue-system/kueue-controller-manager", Version: pins.Kueue, Available: true},
		Interference: noObstacles(),
		LocalQueue:   &kueuev1.LocalQueue{Spec: kueuev1.LocalQueueSpec{ClusterQueue: "ml"}, Status: kueuev1.LocalQueueStatus{Conditions: isActive}},
		ClusterQueue: &kueuev1.ClusterQueue{Status: kueuev1.ClusterQueueStatus{Conditions: isActive}, Spec: kueuev1.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{},
			ResourceGroups: []kueuev1.ResourceGroup{{CoveredResources: []corev1.ResourceName{"cpu", "nvidia.com/gpu"}, Flavors: []kueuev1.FlavorQuotas{{Name: "default-flavor", Resources: []kueuev1.ResourceQuota{
				{Name: "nvidia.com/gpu", NominalQuota: resource.MustParse("3")}}}}}},
		}},
	}
}

func TestNothingIsWrongWithTheLab(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	if wrong := Blocking(Judge(theLab(pins), pins)); wrong != "" {
		t.Error(wrong)
	}
}

// The whole list, as a person reads it: one line a check, and nothing to fix.
func TestTheWholeListOfTheLab(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	const list = ` ✓  cluster         Kubernetes v1.36.3 at https://127.0.0.1:6443
 ✓  node            lab, Ready
 ✓  kubelet         answers the API server
 ✓  hostname        lab; so says its label kubernetes.io/hostname, the kubelet, the machine itself
 ✓  disk            images 40 % used (images go from 85 % on); node 40 % used (pods go from 95 % on)
 ✓  image           docker.io/library/busybox:1.35.0 is on the node
 ✓  webhooks        each that the steps pass through is served
 ✓  Kueue           v0.19.2, webhook answers
 ✓  Kueue's trust   2 webhooks take the certificate of secret kueue-system/webhook-server-cert, valid until 2199-01-01
 ✓  defaults        JobSet's webhook completes a JobSet
 ✓  JobSet          v0.13.0, webhook answers
 ✓  JobSet's trust  2 webhooks take the certificate of secret jobset-system/webhook-server-cert, valid until 2199-01-01
 ✓  integration     Kueue suspends a JobSet that is to be queued
 ✓  no queue        a JobSet without a queue label stays without one, and starts
 ✓  GPU's name      nvidia.com/gpu, in the ClusterQueue and in the learner's files
 ✓  namespace       ml holds no JobSet of anybody else's
 ✓  names           no Job or Service stands where a step makes its own
 ✓  limits          ml has none
 ✓  pods            the Jobs, pods and Service of a JobSet are taken as they are
 ✓  DNS             kube-system/kube-dns leads to 1 ready endpoint
 ✓  queueing        nobody else is in ml
 ✓  flavor          a node has the labels that it asks for
 ✓  ClusterQueue    ml, 3 × nvidia.com/gpu, Active
 ✓  LocalQueue      lq → ml, Active
 ✓  GPUs            4 × nvidia.com/gpu allocatable, for a quota of 3
 ✓  GPUs free       no other pod holds one
 ✓  work directory  no file of anybody else's where the steps write
`
	if reported := Table(Judge(theLab(pins), pins)) + "\n"; reported != list {
		t.Errorf("the list is now:\n%s", reported)
	}
}

func TestAnotherVersionIsANoteAndNotWrong(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.JobSet.Version = "v0.12.0"
	findings := Judge(facts, pins)
	if wrong := Blocking(findings); wrong != "" {
		t.Error(wrong)
	}
	if text := Table(findings); !strings.Contains(text, "the lab pins v0.13.0, so a run on this one is partial") {
		t.Errorf("nothing reports that the version is another:\n%s", text)
	}
}

func TestWhatIsWrongIsReportedWithItsFix(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	node := func(s *Facts) *corev1.Node { return &s.Nodes[0] }
	for name, wrong := range map[string]struct {
		change func(s *Facts)
		says   []string
	}{
		"nothing listens": {func(s *Facts) {
			s.Unreachable = &url.Error{Op: "Get", URL: s.Server, Err: fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)}
		}, []string{"nothing listens at https://127.0.0.1:6443", "/lab/kubeconfig", "make up"}},
		"another cluster's credentials": {func(s *Facts) { s.Unreachable = apierrors.NewUnauthorized("no") },
			[]string{"is not the one that /lab/kubeconfig was made for", "make up"}},
		"another cluster's certificate": {func(s *Facts) {
			s.Unreachable = errors.New("tls: failed to verify certificate: x509: unknown authority")
		},
			[]string{"is not the one that /lab/kubeconfig was made for"}},
		"not a cluster": {func(s *Facts) { _, s.Unreachable = cluster.ParseVersion([]byte("<html>")) }, []string{"is not a Kubernetes API server"}},
		"no node":       {func(s *Facts) { s.Nodes = nil }, []string{"there is none"}},
		"a stale node": {func(s *Facts) {
			s.Nodes = append(s.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "old"}})
		}, []string{"2 nodes where the lab has one", "old, not Ready", "kubectl delete node"}},
		"a node that is not Ready": {func(s *Facts) { node(s).Status.Conditions[0].Status = corev1.ConditionUnknown }, []string{"not Ready", "kubectl describe node lab"}},
		"a cordoned node":          {func(s *Facts) { node(s).Spec.Unschedulable = true }, []string{"cordoned", "kubectl uncordon lab"}},
		"a full disk": {func(s *Facts) {
			node(s).Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/disk-pressure", Effect: corev1.TaintEffectNoSchedule}}
		}, []string{"tainted node.kubernetes.io/disk-pressure:NoSchedule"}},
		"no device plugin": {func(s *Facts) { node(s).Status.Allocatable = nil }, []string{"0 × nvidia.com/gpu allocatable; the lab has 4", "device plugin"}},
		"two devices": {func(s *Facts) { node(s).Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("2") },
			[]string{"2 × nvidia.com/gpu allocatable; the lab has 4"}},
		"a pod that holds GPUs": {func(s *Facts) { s.GPUHolders = map[string]int64{"ml/greedy": 2} },
			[]string{"ml/greedy holds 2", "kubectl -n ml delete pod greedy"}},
		"no image":        {func(s *Facts) { node(s).Status.Images = nil }, []string{"busybox:1.35.0 is not on the node", "crictl pull"}},
		"a local image":   {func(s *Facts) { node(s).Status.Images[0].Names = []string{"localhost/busybox:1.35.0"} }, []string{"the node has localhost/busybox:1.35.0", "images tag"}},
		"no JobSet":       {func(s *Facts) { s.JobSet = cluster.Manager{} }, []string{"no Deployment runs an image named jobset", "install JobSet v0.13.0"}},
		"JobSet is down":  {func(s *Facts) { s.JobSet.Available, s.JobSet.Why = false, "it is scaled to 0" }, []string{"jobset-system/jobset-controller-manager is not available: it is scaled to 0"}},
		"a dead webhook":  {func(s *Facts) { s.KueueWebhook = errors.New("failed calling webhook: x509") }, []string{"a dry run was not answered: failed calling webhook: x509"}},
		"no namespace":    {func(s *Facts) { s.HasNamespace = false }, []string{"there is no namespace ml", "kubectl apply -f fixtures/lab/lab.yaml"}},
		"a learner's own": {func(s *Facts) { s.UnmanagedJobSets = []string{"hello", "mine"} }, []string{"does not replace them: hello, mine", "kubectl -n ml delete jobset hello mine"}},
		"no LocalQueue":   {func(s *Facts) { s.LocalQueue = nil }, []string{"there is no LocalQueue lq in namespace ml"}},
		"lq elsewhere":    {func(s *Facts) { s.LocalQueue.Spec.ClusterQueue = "other" }, []string{"lq → other; the lab's leads to ml", "delete localqueue lq"}},
		"lq not Active": {func(s *Facts) {
			s.LocalQueue.Status.Conditions = []metav1.Condition{{Type: "Active", Status: "False", Reason: "ClusterQueueIsInactive", Message: "no"}}
		}, []string{"it is not Active: ClusterQueueIsInactive: no"}},
		"no ClusterQueue": {func(s *Facts) { s.ClusterQueue = nil }, []string{"there is no ClusterQueue ml"}},
		"quota 5": {func(s *Facts) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("5")
		}, []string{"ml has a quota of 5 × nvidia.com/gpu; the lab has 3"}},
		"no selector":      {func(s *Facts) { s.ClusterQueue.Spec.NamespaceSelector = nil }, []string{"no namespaceSelector"}},
		"not looked at":    {func(s *Facts) { s.ClusterQueue.Status.Conditions = nil }, []string{"Kueue has not looked at it yet"}},
		"a learner's file": {func(s *Facts) { s.UnmanagedFiles = []string{"/root/gsb-jobset/dns.txt"} }, []string{"does not write over them: /root/gsb-jobset/dns.txt", "LAB_WORKDIR="}},
		"no rights":        {func(s *Facts) { s.Unread = []error{errors.New("the nodes: forbidden")} }, []string{"the nodes: forbidden", "kubeconfig must let its user"}},
	} {
		facts := theLab(pins)
		wrong.change(facts)
		reported := Blocking(Judge(facts, pins))
		for _, word := range append(wrong.says, "This is not the lab, so no step was run", "✗", "fix: ") {
			if !strings.Contains(reported, word) {
				t.Errorf("%s: %q is not in\n%s", name, word, reported)
			}
		}
	}
}

// Only --fresh takes from a learner, and it says what.
func TestFreshTakesALearnersWorkForGranted(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.UnmanagedJobSets, facts.UnmanagedFiles, facts.Fresh = []string{"hello", "mine"}, []string{"/root/gsb-jobset/dns.txt"}, true
	findings := Judge(facts, pins)
	if wrong := Blocking(findings); wrong != "" {
		t.Error(wrong)
	}
	for _, word := range []string{"--fresh takes them away: hello, mine", "--fresh moves them aside: /root/gsb-jobset/dns.txt"} {
		if reported := Table(findings); !strings.Contains(reported, word) {
			t.Errorf("%q is not in\n%s", word, reported)
		}
	}
}

func TestAllThatIsWrongIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.LocalQueue, facts.ClusterQueue, facts.Nodes[0].Status.Allocatable = nil, nil, nil
	if reported := Blocking(Judge(facts, pins)); strings.Count(reported, "✗") != 3 {
		t.Errorf("not all three are reported:\n%s", reported)
	}
}

func TestAnImageBeyondTheReportedOnesIsANote(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.Nodes[0].Status.Images = make([]corev1.ContainerImage, imagesReported)
	findings := Judge(facts, pins)
	if wrong := Blocking(findings); wrong != "" {
		t.Error(wrong)
	}
	if !strings.Contains(Table(findings), "may be there all the same") {
		t.Error("nothing is said of the image")
	}
}

func TestManagersAreFoundByTheirImageWhereverTheyAre(t *testing.T) {
	t.Parallel()
	deployment := func(namespace, name, image string, replicas int32, available corev1.ConditionStatus) appsv1.Deployment {
		return appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "registry:5000/proxy"}, {Image: image}}}}},
			Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: available}}}}
	}
	all := []appsv1.Deployment{
		deployment("kueue-system", "kueue-viz", "registry.k8s.io/kueue/kueueviz-backend:v0.19.2", 1, corev1.ConditionTrue),
		deployment("batch", "js", "mirror.example:5000/k8s/jobset:v0.13.0@sha256:abc", 1, corev1.ConditionTrue),
		deployment("batch", "kq", "registry.k8s.io/kueue/kueue@sha256:abc", 0, corev1.ConditionTrue),
	}
	if got := cluster.FindManager(all, "jobset"); got.Deployment != "batch/js" || got.Version != "v0.13.0" || !got.Available {
		t.Errorf("JobSet: %+v", got)
	}
	if got := cluster.FindManager(all, "kueue"); got.Deployment != "batch/kq" || got.Version != "" || got.Available {
		t.Errorf("Kueue, without a tag and scaled to 0: %+v", got)
	}
	if got := cluster.FindManager(all, "trainer"); got.Deployment != "" {
		t.Errorf("found what is not there: %+v", got)
	}
}
