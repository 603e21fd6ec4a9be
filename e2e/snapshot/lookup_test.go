package snapshot

import (
	"slices"
	"testing"
)

func TestAnswersIn(t *testing.T) {
	t.Parallel()
	const name = "hello-leader-0-0.hello.ml.svc.cluster.local"
	for tool, text := range map[string]string{
		"busybox":         "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\nName:\t" + name + "\nAddress: 10.244.0.9\n\n",
		"an old busybox":  "Server:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns\n\nName:      " + name + "\nAddress 1: 10.244.0.9 " + name + "\n",
		"BIND":            "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\t" + name + "\nAddress: 10.244.0.9\n",
		"getent":          "10.244.0.9      " + name + "\n",
		"host":            name + " has address 10.244.0.9\n",
		"dig":             "; <<>> DiG <<>> " + name + "\n" + name + ".\t30\tIN\tA\t10.244.0.9\n;; SERVER: 10.96.0.10#53(10.96.0.10)\n",
		"upper case":      "Server: 10.96.0.10\nAddress: 10.96.0.10\n\nName: HELLO-leader-0-0.hello.ml.svc.cluster.local\nAddress: 10.244.0.9\n",
		"several lookups": "Server: 10.96.0.10\nAddress: 10.96.0.10\n\n** server can't find x: NXDOMAIN\n\nServer: 10.96.0.10\nAddress: 10.96.0.10\n\nName: " + name + "\nAddress: 10.244.0.9\n",
	} {
		var got []string
		for _, answer := range AnswersIn(text) {
			got = append(got, answer.Name+"="+answer.Address.String())
		}
		if !slices.Equal(got, []string{name + "=10.244.0.9"}) {
			t.Errorf("%s: %v", tool, got)
		}
	}
	for what, text := range map[string]string{
		"the server alone": "Server: 10.96.0.10\nAddress: 10.96.0.10:53\n\n** server can't find hello: NXDOMAIN\n",
		"prose":            "the leader has 10.244.0.9\n",
		"nothing":          "",
	} {
		if got := AnswersIn(text); len(got) != 0 {
			t.Errorf("%s: %v", what, got)
		}
	}
}
