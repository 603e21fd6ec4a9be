package steps

import (
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

const leaderName = "hello-leader-0-0.hello.ml.svc.cluster.local"

// leaderIP is the address that the lookup must have been answered with.
func leaderIP(s *snapshot.Snapshot) string { return pod(s, "hello-leader").Status.PodIP }

var _ = newVariations(2, variations{
	Wrong: []variation{
		{"no dns.txt", func(s *snapshot.Snapshot) { delete(s.Files, "dns.txt") }},
		{"the worker's IP", func(s *snapshot.Snapshot) {
			replace(s, "dns.txt", leaderIP(s), pod(s, "hello-worker-0-0").Status.PodIP)
		}},
		{"only the DNS server's own address, which is the leader's by chance", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = "Server:\t\t" + leaderIP(s) + "\nAddress:\t" + leaderIP(s) + ":53\n\n** server can't find " + leaderName + ": NXDOMAIN\n"
		}},
		{"NXDOMAIN", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n** server can't find hello-leader-0-0: NXDOMAIN\n"
		}},
		{"the Service's name only", func(s *snapshot.Snapshot) { replace(s, "dns.txt", "hello-leader-0-0.hello.ml", "hello.ml") }},
		{"the IP of a leader pod that no longer exists", func(s *snapshot.Snapshot) {
			replace(s, "dns.txt", leaderIP(s), "10.244.0.5")
			s.Seen.Objects = append(s.Seen.Objects, snapshot.ObjectHistory{Kind: "Pod", Name: "hello-leader-0-0-qqqqq", UID: "gone",
				JobSet: "hello", Address: "10.244.0.5", Transitions: []snapshot.Transition{{At: 0.2, State: "Seen"}, {At: 0.4, State: "Gone"}}})
		}},
		{"two answers, one of them old", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] += "Name:\t" + leaderName + "\nAddress: 10.244.0.77\n"
		}},
		{"the name without an answer", func(s *snapshot.Snapshot) { s.Files["dns.txt"] = leaderName + "\n" }},
		{"an empty dns.txt", func(s *snapshot.Snapshot) { s.Files["dns.txt"] = "\n" }},
	},
	Right: []variation{
		{"getent hosts", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = leaderIP(s) + "        " + leaderName + "  hello-leader-0-0\n"
		}},
		{"an old busybox", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = "Server:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns.kube-system.svc.cluster.local\n\n" +
				"Name:      " + leaderName + "\nAddress 1: " + leaderIP(s) + " " + leaderName + "\n"
		}},
		{"BIND's nslookup with a dot at the end", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\t" + leaderName + ".\nAddress: " + leaderIP(s) + "\n"
		}},
		{"dig", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = ";; ANSWER SECTION:\n" + leaderName + ". 30 IN A " + leaderIP(s) + "\n;; SERVER: 10.96.0.10#53\n"
		}},
		{"the address alone, without a final newline", func(s *snapshot.Snapshot) { s.Files["dns.txt"] = leaderIP(s) }},
		{"CRLF and a complaint about AAAA", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = strings.ReplaceAll(s.Files["dns.txt"]+"*** Can't find "+leaderName+": No answer\n", "\n", "\r\n")
		}},
	},
})

var _ = newVariations(3, variations{
	Wrong: []variation{
		{"no labels.txt", func(s *snapshot.Snapshot) { delete(s.Files, "labels.txt") }},
		{"the labels of completion index 0", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "completion-index=1", "completion-index=0") }},
		{"job-index taken for the completion index", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "job-index=0", "job-index=1") }},
		{"the wrong prefix jobset.x-k8s.io/", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "jobset.sigs.k8s.io/", "jobset.x-k8s.io/") }},
		{"keys without their prefix", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "batch.kubernetes.io/", "") }},
		{"three keys", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "jobset.sigs.k8s.io/job-index=0\n", "") }},
		{"a fifth key that the pod does not carry", func(s *snapshot.Snapshot) { s.Files["labels.txt"] += "jobset.sigs.k8s.io/rank=1\n" }},
		{"a fifth label with another value than the pod's", func(s *snapshot.Snapshot) { s.Files["labels.txt"] += "jobset.sigs.k8s.io/restart-attempt=1\n" }},
		{"five keys", func(s *snapshot.Snapshot) { s.Files["labels.txt"] += "jobset.sigs.k8s.io/restart-attempt=0\n" }},
		{"a key twice", func(s *snapshot.Snapshot) { s.Files["labels.txt"] += "jobset.sigs.k8s.io/job-index=0\n" }},
		{"the leader's labels", func(s *snapshot.Snapshot) {
			replace(s, "labels.txt", "replicatedjob-name=worker", "replicatedjob-name=leader")
		}},
		{"YAML instead of key=value", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "=", ": ") }},
		{"an empty labels.txt", func(s *snapshot.Snapshot) { s.Files["labels.txt"] = "" }},
	},
	Right: []variation{
		{"the keys in another order", func(s *snapshot.Snapshot) {
			lines := strings.Fields(s.Files["labels.txt"])
			slices.Reverse(lines)
			s.Files["labels.txt"] = strings.Join(lines, "\n")
		}},
		{"CRLF and trailing blanks", func(s *snapshot.Snapshot) { asOnWindows(s, "labels.txt") }},
		{"no final newline", func(s *snapshot.Snapshot) { s.Files["labels.txt"] = strings.TrimSpace(s.Files["labels.txt"]) }},
		{"blanks around the equals sign", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "=", " = ") }},
	},
})

var _ = newVariations(8, variations{
	Wrong: []variation{
		{"no report.json", func(s *snapshot.Snapshot) { delete(s.Files, "report.json") }},
		{"invalid JSON", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `train`) }},
		{"a list, not an object", func(s *snapshot.Snapshot) { s.Files["report.json"] = `["train", "big", 1]` }},
		{"an unqueued JobSet as admitted", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `"hello", "train"`) }},
		{"a JobSet that waits as admitted", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `"big", "train"`) }},
		{"nothing admitted", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, ``) }},
		{"train twice", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `"train", "train"`) }},
		{"big missing from suspended", func(s *snapshot.Snapshot) { replace(s, "report.json", `"big"`, ``) }},
		{"a missing key", func(s *snapshot.Snapshot) { replace(s, "report.json", "fragile_restarts", "restarts") }},
		{"a fourth key", func(s *snapshot.Snapshot) {
			replace(s, "report.json", `"fragile_restarts"`, `"note": "ok", "fragile_restarts"`)
		}},
		{"a string for the number", func(s *snapshot.Snapshot) { replace(s, "report.json", `: 1`, `: "1"`) }},
		{"null for the number", func(s *snapshot.Snapshot) { replace(s, "report.json", `: 1`, `: null`) }},
		{"a string for a list", func(s *snapshot.Snapshot) {
			s.Files["report.json"] = `{"admitted": "train", "suspended": ["big"], "fragile_restarts": 1}`
		}},
		{"a stale count", func(s *snapshot.Snapshot) { jobSet(s, "fragile").Status.Restarts = 2 }},
		{"admitted twice, and the second time right", func(s *snapshot.Snapshot) {
			replace(s, "report.json", `"admitted": [`, `"admitted": ["big"], "admitted": [`)
		}},
		{"a Python dict", func(s *snapshot.Snapshot) { replace(s, "report.json", `"`, `'`) }},
		{"typographic quotes", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `“train”`) }},
		{"a comma at the end", func(s *snapshot.Snapshot) { replace(s, "report.json", `: 1`, `: 1,`) }},
		{"a comma missing", func(s *snapshot.Snapshot) { replace(s, "report.json", `],`, `]`) }},
		{"a comment", func(s *snapshot.Snapshot) { replace(s, "report.json", `: 1`, `: 1 // status.restarts`) }},
		{"not closed", func(s *snapshot.Snapshot) {
			s.Files["report.json"] = strings.TrimSuffix(s.Files["report.json"], "}\n")
		}},
		{"two objects, as >> leaves them", func(s *snapshot.Snapshot) { s.Files["report.json"] += s.Files["report.json"] }},
		{"a Markdown fence", func(s *snapshot.Snapshot) { s.Files["report.json"] = "```json\n" + s.Files["report.json"] + "```\n" }},
		{"YAML", func(s *snapshot.Snapshot) {
			s.Files["report.json"] = "admitted: [train]\nsuspended: [big]\nfragile_restarts: 1\n"
		}},
		{"a line end inside a name", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, "\"tra\nin\"") }},
		{"null", func(s *snapshot.Snapshot) { s.Files["report.json"] = "null\n" }},
		{"the command that prints it", func(s *snapshot.Snapshot) { s.Files["report.json"] = "$ cat report.json\n" + s.Files["report.json"] }},
		{"names with their namespace", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `"ml/train"`) }},
		{"objects for names", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, `{"name": "train"}`) }},
		{"half a restart", func(s *snapshot.Snapshot) { replace(s, "report.json", `: 1`, `: 1.5`) }},
		{"fragile restarted never", func(s *snapshot.Snapshot) {
			jobSet(s, "fragile").Status.Restarts = 0
			replace(s, "report.json", `: 1`, `: 0`)
		}},
	},
	Right: []variation{
		{"one line, the keys in another order", func(s *snapshot.Snapshot) {
			s.Files["report.json"] = `{"fragile_restarts":1,"suspended":["big"],"admitted":["train"]}`
		}},
		{"CRLF and no final newline", func(s *snapshot.Snapshot) { asOnWindows(s, "report.json") }},
		{"a byte order mark, tabs and blanks of a web page", func(s *snapshot.Snapshot) {
			replace(s, "report.json", "  ", "\t\u00a0")
			s.Files["report.json"] = "\ufeff" + s.Files["report.json"]
		}},
		{"the colours of jq", func(s *snapshot.Snapshot) { replace(s, "report.json", `"train"`, "\x1b[0;32m\"train\"\x1b[0m") }},
		{"escaped letters, and the count as 1.0", func(s *snapshot.Snapshot) {
			replace(s, "report.json", `"train"`, `"\u0074rain"`)
			replace(s, "report.json", `: 1`, `: 1.0`)
		}},
		{"two restarts", func(s *snapshot.Snapshot) {
			restartedTwice(s)
			replace(s, "report.json", `: 1`, `: 2`)
		}},
		{"a JobSet of the learner's own, suspended by hand, and the names in any order", func(s *snapshot.Snapshot) {
			own := jobSet(s, "hello").DeepCopy()
			own.Name, own.UID = "a-own", "uid-of-a-own"
			suspend := true
			own.Spec.Suspend = &suspend
			s.JobSets = append(s.JobSets, *own)
			replace(s, "report.json", `"big"`, `"big", "a-own"`)
		}},
	},
})
