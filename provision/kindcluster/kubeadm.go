package kindcluster

// withoutElection are kind's patches of kubeadm's configuration that switch off leader
// election of the controller manager and the scheduler: with one control plane it only
// costs seconds.
//
// kind uses kubeadm's v1beta4 for Kubernetes 1.36 and newer, v1beta3 below, and
// silently ignores a patch of the other version. extraArgs is a list in one and a map
// in the other, so there is a patch for each.
var withoutElection = []string{
	"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n" +
		"controllerManager: {extraArgs: [{name: leader-elect, value: \"false\"}]}\n" +
		"scheduler: {extraArgs: [{name: leader-elect, value: \"false\"}]}\n",
	"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta3\n" +
		"controllerManager: {extraArgs: {leader-elect: \"false\"}}\n" +
		"scheduler: {extraArgs: {leader-elect: \"false\"}}\n",
}
