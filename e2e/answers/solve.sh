kubectl apply -f "$STEPS/hello.yaml" -f "$STEPS/fragile.yaml" -f "$STEPS/eval.yaml" -f "$STEPS/train.yaml"
until [ "$(kubectl -n ml get pods -l jobset.sigs.k8s.io/jobset-name=fragile -o name | wc -l)" -eq 2 ]; do sleep 0.3; done
kubectl -n ml wait pods -l jobset.sigs.k8s.io/jobset-name=fragile --for=condition=Ready --timeout=60s
worker=$(kubectl -n ml get pods -l jobset.sigs.k8s.io/jobset-name=fragile,jobset.sigs.k8s.io/replicatedjob-name=worker -o name)
kubectl -n ml exec "$worker" -- touch /tmp/fail
# Only once train is in does big wait for what the lab text says.
kubectl -n ml wait pods -l jobset.sigs.k8s.io/jobset-name=train --for=condition=Ready --timeout=60s
kubectl apply -f "$STEPS/big.yaml"
kubectl -n ml wait jobset/fragile --for=jsonpath='{.status.restarts}'=1 --timeout=60s
kubectl -n ml wait jobset/eval --for=condition=Completed --timeout=60s
for name in hello train; do
	kubectl -n ml wait pods -l jobset.sigs.k8s.io/jobset-name=$name --for=condition=Ready --timeout=60s
done
until [ "$(kubectl -n ml get pods -l jobset.sigs.k8s.io/jobset-name=fragile,jobset.sigs.k8s.io/restart-attempt=1 -o name | wc -l)" -eq 2 ]; do sleep 0.3; done
kubectl -n ml wait pods -l jobset.sigs.k8s.io/jobset-name=fragile,jobset.sigs.k8s.io/restart-attempt=1 --for=condition=Ready --timeout=60s
until kubectl -n ml get workloads -o yaml | grep -q 'insufficient quota'; do sleep 0.3; done
