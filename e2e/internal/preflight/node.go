package preflight

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

func nodeReady(nodes []corev1.Node) Finding {
	finding := Finding{Check: "node"}
	var names []string
	for _, node := range nodes {
		state, _ := nodeState(node)
		names = append(names, node.Name+", "+state)
	}
	finding.Message = strings.Join(names, "; ")
	switch len(nodes) {
	case 0:
		finding.Code, finding.Message, finding.Passes = NodeNotFound, "there is none", true
		finding.Fix = remakeFix + "look at kubectl get nodes"
	case 1:
		switch _, finding.Code = nodeState(nodes[0]); finding.Code {
		case "":
		case NodeCordoned:
			finding.Fix = "kubectl uncordon " + nodes[0].Name
		default:
			finding.Fix = "kubectl describe node " + nodes[0].Name + " says why"
			finding.Passes = settling(nodes[0])
		}
	default:
		finding.Code = NodeCountMismatch
		finding.Message = fmt.Sprintf("%d nodes where the lab has one: %s", len(nodes), finding.Message)
		finding.Fix = "kubectl delete node <the stale one>"
	}
	return finding
}

// nodeState says in what state a node is; code is empty if pods of the lab may run on it.
func nodeState(node corev1.Node) (state string, code snapshot.Code) {
	state, code = "not Ready", NodeNotReady
	for _, condition := range node.Status.Conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			state, code = "Ready", ""
		} else {
			state = "not Ready (" + text.ReasonAndMessage(condition.Reason, condition.Message) + ")"
		}
	}
	if node.Spec.Unschedulable {
		return "cordoned", NodeCordoned
	}
	for _, taint := range node.Spec.Taints {
		if code == "" && taint.Effect != corev1.TaintEffectPreferNoSchedule {
			return fmt.Sprintf("tainted %s:%s, so no pod of the lab may go there", taint.Key, taint.Effect), NodeTainted
		}
	}
	return state, code
}

// A Host is the machine that this program runs on. It is the node itself where
// the suite was copied into the lab's VM: both then have the same machine id.
type Host struct {
	ID, Hostname string
}

// thisHost reads who this machine is; what cannot be read stays empty.
func thisHost() Host {
	id, _ := os.ReadFile("/etc/machine-id") // a container has none
	hostname, _ := os.Hostname()
	return Host{ID: strings.TrimSpace(string(id)), Hostname: hostname}
}

// nodeNamed compares the node's name with the hostname. A VM that was copied, or
// booted from a snapshot under another name, keeps a node of its old name
// (k3s#9879). What the kubelet calls the hostname may itself be an override, so
// on the node itself the machine's own word counts too.
func nodeNamed(nodes []corev1.Node, host Host) Finding {
	finding := Finding{Check: "hostname"}
	if len(nodes) != 1 {
		finding.Message = "not compared, for there is not one node"
		return finding
	}
	node := nodes[0]
	names := []struct{ by, name string }{{"its label " + corev1.LabelHostname, node.Labels[corev1.LabelHostname]}}
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeHostName {
			names = append(names, struct{ by, name string }{"the kubelet", address.Address})
		}
	}
	if host.ID != "" && host.ID == node.Status.NodeInfo.MachineID {
		names = append(names, struct{ by, name string }{"the machine itself", host.Hostname})
	}
	var agree []string
	for _, given := range names {
		switch {
		case given.name == "":
		case !strings.EqualFold(given.name, node.Name):
			finding.Code = HostnameMismatch
			finding.Message = fmt.Sprintf("the node is called %s, and %s says that its hostname is %s", node.Name, given.by, given.name)
			finding.Fix = fmt.Sprintf("on the node: hostnamectl set-hostname %s, then restart its kubelet (k3s: systemctl restart k3s); "+
				"or kubectl delete node %s once it has joined as %s", node.Name, node.Name, strings.ToLower(given.name))
			return finding
		default:
			agree = append(agree, given.by)
		}
	}
	if len(agree) == 0 {
		finding.Message, finding.Note = "not known", "neither a label nor an address of the node names it"
		return finding
	}
	finding.Message = node.Name + "; so says " + strings.Join(agree, ", ")
	return finding
}

// nearly is how many percentage points below a mark are noted as little headroom.
const nearly = 5

// diskHasRoom judges whether the kubelet is about to remove images: where no
// registry answers, the one on the node is the only copy (k3s#6290).
func diskHasRoom(kubelet *cluster.Kubelet) Finding {
	finding := Finding{Check: "disk"}
	switch {
	case kubelet == nil:
		finding.Message = "not looked at, for there is not one node"
		return finding
	case kubelet.Unread != nil:
		finding.Message = "not known: the kubelet does not report it"
		finding.Note = fmt.Sprintf("%v; it takes get on nodes/proxy", kubelet.Unread)
		return finding
	}
	var usages []string
	for _, disk := range kubelet.Disks {
		mark := disk.EvictFrom()
		if disk.Name == "images" {
			mark = min(mark, cmp.Or(kubelet.CollectFrom, 100))
		}
		usage := fmt.Sprintf("%s %d %% used", disk.Name, disk.Used())
		usages = append(usages, usage)
		if mark >= 100 {
			continue
		}
		removes := fmt.Sprintf("from %d %% on the kubelet %s", mark, map[string]string{
			"images": "removes images that no container uses, and without a registry such an image is the only copy",
			"node":   "evicts pods, and removes unused images where they lie on the same disk",
		}[disk.Name])
		switch {
		case disk.Used() >= mark:
			finding.Code, finding.Message = DiskFull, usage+"; "+removes
			finding.Fix = fmt.Sprintf("free disk on the node until less than %d %% are used (docker or crictl images, /var/log, old snapshots); "+
				"then see whether the lab's images are all still there", mark)
			return finding
		case disk.Used() >= mark-nearly:
			finding.Code, finding.Note = DiskNearlyFull, removes
		}
		usages[len(usages)-1] += fmt.Sprintf(" (%s go from %d %% on)", map[string]string{"images": "images", "node": "pods"}[disk.Name], mark)
	}
	finding.Message = strings.Join(usages, "; ")
	if !strings.Contains(finding.Message, "go from") {
		finding.Message += "; the kubelet removes no image for want of room"
	}
	if age := kubelet.MaximumAge; age != "" && age != "0s" && finding.Note == "" {
		finding.Note = "the kubelet removes images that were not used for " + age + " however empty the disk is"
	}
	return finding
}
