# A control plane that is not kubeadm's: plain processes in a container, as in a
# VM where one program is all of Kubernetes. No static pods, no kube-proxy pod, no
# label of kubeadm's, another node name. Sourced by run.
node=$name
admin=/etc/lab/admin.kubeconfig

create_cluster() {
	"$LAB_ENGINE" network create "$LAB_NAME" >/dev/null
	# As kind starts a node: see its pkg/cluster/internal/providers.
	"$LAB_ENGINE" run --detach --tty --name "$node" --hostname lab-vm --net "$LAB_NAME" \
		--privileged --cgroupns=private --env container="$LAB_ENGINE" --tmpfs /tmp --tmpfs /run \
		--volume "$name:/var:suid,exec,dev" --volume /lib/modules:/lib/modules:ro \
		--volume "$LAB_SEAL/lab-seal:/usr/local/sbin/lab-seal:ro" --volume "$LAB_PROGRAMS:/programs:ro" --publish 127.0.0.1::6443/tcp "$LAB_NODE_IMAGE" >/dev/null
	again 60 "$LAB_ENGINE" exec "$node" systemctl is-active containerd
	"$LAB_ENGINE" exec -i "$node" bash -s <"$here/plain-node"
	local address
	address=$("$LAB_ENGINE" port "$node" 6443/tcp)
	"$LAB_ENGINE" exec "$node" cat "$admin" | sed "s|server: .*|server: https://$address|" >"$LAB_KUBECONFIG"
	again 120 k get --raw /readyz
	local coredns
	coredns=$("$LAB_ENGINE" exec "$node" ctr -n k8s.io images ls -q | grep -m1 '/coredns:')
	sed "s|IMAGE|$coredns|" "$here/plain-dns.yaml" >"$work/dns.yaml"
	again 60 apply "$work/dns.yaml"
	again 60 k wait --for=condition=Ready node/lab-vm --timeout=60s
	k label node lab-vm node-role.kubernetes.io/control-plane=true node.kubernetes.io/instance-type=plain >/dev/null
	k -n kube-system rollout status deployment/coredns --timeout=120s
}

remove_cluster() {
	"$LAB_ENGINE" kill "$node" || true
	"$LAB_ENGINE" rm --force "$node"
	"$LAB_ENGINE" volume rm "$name"
	"$LAB_ENGINE" network rm "$LAB_NAME"
}
