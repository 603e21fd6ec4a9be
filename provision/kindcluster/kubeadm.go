package kindcluster

// kubeadmPatches are kind's patches of kubeadm's configuration. With one control plane,
// leader election of the controller manager and the scheduler only costs seconds. A lab
// need not outlive a crash of this machine, so etcd does not wait for the disk at each
// write; and keys of elliptic curves are made in no time.
//
// kind uses kubeadm's v1beta4 for Kubernetes 1.36 and newer, v1beta3 below, and
// silently ignores a patch of the other version. extraArgs is a list in one and a map
// in the other, so there is a patch for each.
var kubeadmPatches = []string{
	"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n" +
		"encryptionAlgorithm: ECDSA-P256\n" +
		"etcd: {local: {extraArgs: [{name: unsafe-no-fsync, value: \"true\"}]}}\n" +
		"controllerManager: {extraArgs: [{name: leader-elect, value: \"false\"}]}\n" +
		"scheduler: {extraArgs: [{name: leader-elect, value: \"false\"}]}\n",
	"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta3\n" +
		"etcd: {local: {extraArgs: {unsafe-no-fsync: \"true\"}}}\n" +
		"controllerManager: {extraArgs: {leader-elect: \"false\"}}\n" +
		"scheduler: {extraArgs: {leader-elect: \"false\"}}\n",
}
