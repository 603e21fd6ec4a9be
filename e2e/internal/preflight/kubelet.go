package preflight

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// kubeletAnswers judges whether the API server gets at the kubelet, without which no
// command runs in a pod, and no pod starts where the kubelet is down. That somebody may not
// ask it is no sign of that.
func kubeletAnswers(facts *Facts) Finding {
	finding := Finding{Check: "kubelet", Message: "answers the API server"}
	switch kubelet := facts.Kubelet; {
	case kubelet == nil:
		finding.Message = "not looked at, for there is not one node"
	case kubelet.Unread == nil:
	case passing(kubelet.Unread) && !apierrors.IsNotFound(kubelet.Unread):
		finding.Code, finding.Passes = KubeletUnreachable, true
		finding.Message = fmt.Sprintf("the kubelet of node %s does not answer the API server: %v", facts.Nodes[0].Name, kubelet.Unread)
		finding.Fix = "on the node: systemctl status kubelet (k3s: k3s) shows whether it runs; port 10250 must be open to the API server"
	default:
		finding.Message = "not known"
	}
	return finding
}
