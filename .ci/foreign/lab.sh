# Makes the lab on the cluster by kubectl alone, Kueue first and the queues from
# the last to the first, among things that others left. Sourced by run.

make_lab() {
	again 60 k get --raw /readyz
	k apply --server-side -f - <"$LAB_MANIFESTS/fake-gpu.yaml" >/dev/null
	# JobSet comes first in the list of frameworks, and last of all in the cluster.
	sed -e '/^ *- "jobset\.x-k8s\.io\/jobset"$/d' -e 's/^\( *\)frameworks:$/&\n\1- "jobset.x-k8s.io\/jobset"/' \
		"$LAB_MANIFESTS/kueue.yaml" >"$work/kueue.yaml"
	! cmp -s "$LAB_MANIFESTS/kueue.yaml" "$work/kueue.yaml"
	again 60 apply "$work/kueue.yaml"
	k -n kueue-system rollout status deployment/kueue-controller-manager --timeout=300s
	# Kueue's webhook, which Deployments go through, may be refused for a while yet.
	again 180 apply "$LAB_MANIFESTS/jobset.yaml"
	k -n jobset-system rollout status deployment/jobset-controller-manager --timeout=300s
	awk -v RS='---\n' '{ doc[NR] = $0 } END { print doc[1]; for (i = NR; i > 1; i--) print "---\n" doc[i] }' \
		"$root/fixtures/lab/lab.yaml" >"$work/queues.yaml"
	again 180 apply "$work/queues.yaml"
	again 180 apply "$here/leftovers.yaml"
	k wait --for=condition=Active clusterqueue/ml --timeout=60s
	k -n ml wait --for=condition=Active localqueue/lq --timeout=60s
	k -n team-a wait --for=condition=Ready pod -l jobset.sigs.k8s.io/jobset-name=hello --timeout=60s
}

apply() { k apply --server-side --force-conflicts -f - <"$1"; }
