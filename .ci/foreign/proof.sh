# What must hold on a lab that already stands. Sourced by run.

# everything lists every object of the cluster by kind, namespace and name. Events
# are left out: the cluster makes them, about anything, and drops them in time.
everything() {
	local kinds
	kinds=$(k api-resources --verbs=list --no-headers -o name | grep -vE '^events(\.|$)' | paste -sd,)
	# What the API server warns of is how old some kinds are.
	k get "$kinds" -A --no-headers -o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name 2>"$work/warnings" |
		sort || { cat "$work/warnings" >&2; return 1; }
}

# unchanged compares the cluster with what was there before.
unchanged() {
	everything >"$work/after"
	if ! diff "$work/before" "$work/after"; then
		echo "objects before and after differ ($1)" >&2
		return 1
	fi
	say "$(wc -l <"$work/before") objects before, the same $(wc -l <"$work/after") after: $1"
}

# run runs the suite as on anybody's lab, and demands its exit status.
run() {
	local wanted=$1 status=0
	shift
	"$suite" run --workdir "$work/learner" --reports "$work/reports" "$@" >"$work/run.txt" 2>&1 || status=$?
	cat "$work/run.txt"
	case " $wanted " in
	*" $status "*) ;;
	*) echo "the exit status is $status, not $wanted" >&2; return 1 ;;
	esac
}

told() { grep -qF -- "$1" "$work/run.txt" || { echo "it does not say: $1" >&2; return 1; }; }

prove() {
	mkdir -p "$work/learner"
	everything >"$work/before"
	say "a run"
	run "0 3"
	unchanged "a run"
	[ -z "$(ls -A "$work/learner")" ] || { ls -A "$work/learner"; return 1; }

	say "a learner's own work is left alone"
	sed 's/name: hello/name: mine/; s/namespace: team-a/namespace: ml/' "$here/leftovers.yaml" |
		awk -v RS='---\n' '/kind: JobSet/' | k apply -f -
	again 60 k -n ml wait --for=condition=Ready pod -l jobset.sigs.k8s.io/jobset-name=mine
	echo 'a learner wrote this' >"$work/learner/dns.txt"
	everything >"$work/learners"
	run 1
	told "ml holds JobSets that this suite did not make, and"
	told ": mine"
	told "it does not write over them: $work/learner/dns.txt"
	everything | diff "$work/learners" -
	say "unless --fresh is given"
	run 3 --fresh --step dns
	told "--fresh: the JobSets mine of namespace ml were deleted."
	grep -q 'a learner wrote this' "$work"/learner/before-*/dns.txt
	unchanged "a run with --fresh"

	say "Ctrl-C in the middle"
	"$suite" run --workdir "$work/learner" --reports "$work/reports" >"$work/run.txt" 2>&1 &
	local running=$! status=0
	again 120 k -n ml get jobset hello
	kill -INT "$running"
	wait "$running" || status=$?
	tail -n 12 "$work/run.txt"
	[ "$status" -eq 1 ]
	unchanged "an interrupted run"

	say "a hostname that is not the node's name, and a webhook that trusts another authority"
	local name_of_node authority
	name_of_node=$(k get nodes -o jsonpath='{.items[0].metadata.name}')
	k label node "$name_of_node" --overwrite kubernetes.io/hostname=vm-of-another-name
	authority=$(k -n kube-system get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}' | base64 -w0)
	sed "s|AUTHORITY|$authority|" "$here/stale-webhook.yaml" >"$work/stale.yaml"
	apply "$work/stale.yaml"
	run 1
	told "the node is called $name_of_node, and its label kubernetes.io/hostname says that its hostname is vm-of-another-name"
	told "ValidatingWebhookConfiguration jobset-of-yesterday: its caBundle is of another authority"
	k delete -f - <"$work/stale.yaml"
	k label node "$name_of_node" --overwrite "kubernetes.io/hostname=$name_of_node"
	unchanged "a run that was refused"

	say "on the node itself, where the machine's own hostname counts"
	"$LAB_ENGINE" exec -i "$node" sh -c 'cat >/usr/local/bin/lab-e2e && chmod +x /usr/local/bin/lab-e2e' <"$suite"
	local hostname
	hostname=$("$LAB_ENGINE" exec "$node" hostname)
	"$LAB_ENGINE" exec "$node" hostname vm-of-another-name
	inside 1
	told "the node is called $name_of_node, and the machine itself says that its hostname is vm-of-another-name"
	"$LAB_ENGINE" exec "$node" hostname "$hostname"
	inside 3 --step dns
	told "the kubelet, the machine itself"
	[ -z "$("$LAB_ENGINE" exec "$node" ls -A /root/gsb-jobset)" ]
	unchanged "a run on the node itself"

	say "an image of another name, as in a VM without a registry"
	local usual=docker.io/library/busybox:1.35.0 other=registry.local:5000/tools/busybox:1
	rename_image "$usual" "$other"
	run 1 --step hello
	told "$usual is not on the node"
	run 3 --step hello --image "$other"
	told "named for this run; the learner's files say busybox:1.35.0"
	rename_image "$other" "$usual"
	unchanged "a run with an image of another name"
}

# inside runs the suite on the node itself, as in a lab's VM: nothing but the
# program is carried there.
inside() {
	local wanted=$1 status=0
	shift
	"$LAB_ENGINE" exec "$node" /usr/local/bin/lab-e2e run --kubeconfig "$admin" --workdir /root/gsb-jobset --reports /root/reports "$@" \
		>"$work/run.txt" 2>&1 || status=$?
	cat "$work/run.txt"
	[ "$status" -eq "$wanted" ]
}

# rename_image gives an image of the node another name, and waits until the node says so.
rename_image() {
	"$LAB_ENGINE" exec "$node" ctr -n k8s.io images tag "$1" "$2" >/dev/null
	"$LAB_ENGINE" exec "$node" ctr -n k8s.io images rm "$1" >/dev/null
	again 120 lists_images "$2" "$1"
}

# lists_images: whether the node has the first image, and not the second.
lists_images() {
	local names
	names=$(k get nodes -o jsonpath='{.items[0].status.images[*].names}')
	grep -qF "\"$1\"" <<<"$names" && ! grep -qF "\"$2\"" <<<"$names"
}
