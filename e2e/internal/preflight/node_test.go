package preflight

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
)

func TestTheNodeIsCalledLikeItsHost(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]struct {
		change func(*corev1.Node, *Host)
		says   string
	}{
		"the label": {func(node *corev1.Node, _ *Host) { node.Labels[corev1.LabelHostname] = "vm-2" },
			"the node is called lab, and its label kubernetes.io/hostname says that its hostname is vm-2"},
		"the kubelet": {func(node *corev1.Node, _ *Host) { node.Status.Addresses[1].Address = "vm-2" }, "the kubelet says that its hostname is vm-2"},
		"the machine": {func(_ *corev1.Node, machine *Host) { machine.Hostname = "vm-2" }, "the machine itself says that its hostname is vm-2"},
	} {
		facts := theLab(labtest.Pinned(t))
		wrong.change(&facts.Nodes[0], &facts.Host)
		finding := nodeNamed(facts.Nodes, facts.Host)
		if !strings.Contains(finding.Message, wrong.says) || !strings.Contains(finding.Fix, "hostnamectl set-hostname lab") {
			t.Errorf("%s: %+v", name, finding)
		}
	}
}

func TestAnotherMachineThanTheNodeHasNoSay(t *testing.T) {
	t.Parallel()
	facts := theLab(labtest.Pinned(t))
	for _, machine := range []Host{{ID: "other", Hostname: "laptop"}, {Hostname: "container"}} {
		facts.Nodes[0].Status.NodeInfo.MachineID = "3d12"
		if finding := nodeNamed(facts.Nodes, machine); finding.Wrong() {
			t.Errorf("%+v: %+v", machine, finding)
		}
	}
	facts.Nodes[0].Labels, facts.Nodes[0].Status.Addresses = nil, nil
	if finding := nodeNamed(facts.Nodes, Host{}); finding.Wrong() || finding.Note == "" {
		t.Errorf("a node that reports no hostname: %+v", finding)
	}
	two := append(facts.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "old"}})
	if finding := nodeNamed(two, Host{}); finding.Wrong() {
		t.Errorf("the stale node is reported already: %+v", finding)
	}
}

func TestADiskThatFillsIsReportedBeforeTheImageGoes(t *testing.T) {
	t.Parallel()
	full := func(images, node uint64) *cluster.Kubelet {
		return &cluster.Kubelet{CollectFrom: 85, Disks: []cluster.Disk{
			{Name: "images", Available: 100 - images, Capacity: 100, Evict: "5%"}, {Name: "node", Available: 100 - node, Capacity: 100, Evict: "5%"}}}
	}
	quantity := full(40, 40)
	quantity.Disks[1].Evict = "70" // bytes of 100
	for name, wrong := range map[string]struct {
		kubelet *cluster.Kubelet
		says    string
	}{
		"at the mark":     {full(85, 40), "images 85 % used; from 85 % on the kubelet removes images that no container uses, and without a registry such an image is the only copy"},
		"evicting":        {full(40, 96), "node 96 % used; from 95 % on the kubelet evicts pods"},
		"evicting sooner": {quantity, "node 40 % used; from 30 % on"},
	} {
		finding := diskHasRoom(wrong.kubelet)
		if !strings.Contains(finding.Message, wrong.says) || !strings.Contains(finding.Fix, "free disk on the node") {
			t.Errorf("%s: %+v", name, finding)
		}
	}
	if finding := diskHasRoom(full(81, 40)); finding.Wrong() || !strings.Contains(finding.Note, "from 85 % on the kubelet removes") {
		t.Errorf("little headroom: %+v", finding)
	}
	if finding := diskHasRoom(full(79, 40)); finding.Wrong() || finding.Note != "" || finding.Message != "images 79 % used (images go from 85 % on); node 40 % used (pods go from 95 % on)" {
		t.Errorf("enough headroom: %+v", finding)
	}
}

func TestADiskThatIsNeverCleanedOrNotReportedIsNotWrong(t *testing.T) {
	t.Parallel()
	never := &cluster.Kubelet{CollectFrom: 100, MaximumAge: "168h0m0s", Disks: []cluster.Disk{{Name: "images", Available: 1, Capacity: 100, Evict: "0%"}, {Name: "node", Available: 1, Capacity: 100}}}
	if finding := diskHasRoom(never); finding.Wrong() || !strings.Contains(finding.Message, "removes no image for want of room") || !strings.Contains(finding.Note, "not used for 168h0m0s") {
		t.Errorf("kind's way: %+v", finding)
	}
	if finding := diskHasRoom(&cluster.Kubelet{Unread: errors.New("nodes \"lab\" is forbidden")}); finding.Wrong() || !strings.Contains(finding.Note, "forbidden; it takes get on nodes/proxy") {
		t.Errorf("refused: %+v", finding)
	}
	if finding := diskHasRoom(nil); finding.Wrong() || finding.Note != "" {
		t.Errorf("more than one node: %+v", finding)
	}
}
