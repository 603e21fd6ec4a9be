package kindcluster

// withoutElection are kind's patches of kubeadm's configuration by which the
// controller manager and the scheduler elect no leader: with one control plane
// there is nobody to elect, and waiting for a lease costs seconds.
//
// kind writes kubeadm's v1beta4 for Kubernetes 1.36 and newer and v1beta3 below,
// and ignores a patch of the other version without a word. extraArgs is a list in
// the one and a map in the other, so each version gets a patch of its own form.
var withoutElection = []string{
	"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n" +
		"controllerManager: {extraArgs: [{name: leader-elect, value: \"false\"}]}\n" +
		"scheduler: {extraArgs: [{name: leader-elect, value: \"false\"}]}\n",
	"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta3\n" +
		"controllerManager: {extraArgs: {leader-elect: \"false\"}}\n" +
		"scheduler: {extraArgs: {leader-elect: \"false\"}}\n",
}
