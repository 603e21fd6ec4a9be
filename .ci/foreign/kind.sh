# The kind program and nothing else makes the cluster: another name, another
# Service network. Sourced by run.
node=$name-control-plane
admin=/etc/kubernetes/admin.conf

create_cluster() {
	# A machine may forbid better oom scores, and may have cgroup v1: see
	# provision/cluster.go. On others neither setting changes anything.
	"$root/.lab/bin/kind" create cluster --name "$name" --image "$LAB_NODE_IMAGE" --kubeconfig "$LAB_KUBECONFIG" --config - <<-YAML
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		networking: {disableDefaultCNI: true, apiServerAddress: 127.0.0.1, serviceSubnet: 10.112.0.0/16}
		containerdConfigPatches:
		- |-
		  [plugins."io.containerd.grpc.v1.cri"]
		    restrict_oom_score_adj = true
		nodes:
		- role: control-plane
		  extraMounts:
		  - {hostPath: $LAB_SEAL/lab-seal, containerPath: /usr/local/sbin/lab-seal, readOnly: true}
		  - {hostPath: $LAB_SEAL/20-seal.conf, containerPath: /etc/systemd/system/kubelet.service.d/20-seal.conf, readOnly: true}
		  kubeadmConfigPatches:
		  - |
		    kind: KubeletConfiguration
		    apiVersion: kubelet.config.k8s.io/v1beta1
		    failCgroupV1: false
	YAML
}

remove_cluster() {
	"$LAB_ENGINE" kill "$node" || true # what is thrown away need not end in good order
	"$root/.lab/bin/kind" delete cluster --name "$name" --kubeconfig "$LAB_KUBECONFIG"
	"$LAB_ENGINE" network rm "$LAB_NAME"
}
