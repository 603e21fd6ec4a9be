package steps

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The forms in which tools, editors and terminals write what is right, and texts that come
// close in the same forms.

// says makes a variation of which dns.txt holds this text; %s in it is the value.
func says(name, format string, value func(*snapshot.Snapshot) string) variation {
	return variation{name, func(s *snapshot.Snapshot) {
		s.Files["dns.txt"] = strings.ReplaceAll(format, "%s", value(s))
	}}
}

// dnsSays is one of dns.txt; %s is the leader's IP.
func dnsSays(name, format string) variation {
	return says(name, strings.ReplaceAll(format, "FULLNAME", leaderName), leaderIP)
}

// workersIP is an address that the lookup must not have been answered with.
func workersIP(s *snapshot.Snapshot) string { return pod(s, "hello-worker-0-0").Status.PodIP }

// network gives hello a spec.network of its own. The names that it then has are not those
// of the lab text.
func network(s *snapshot.Snapshot, own jobsetv1.Network, answer string) {
	jobSet(s, "hello").Spec.Network = &own
	s.Files["dns.txt"] = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n" + strings.ReplaceAll(answer, "%s", leaderIP(s))
}

const (
	notFound   = "** server can't find " + leaderName + ": NXDOMAIN\n"
	otherFound = "Name:\thello-leader-0-0.example.ml.svc.cluster.local\nAddress: %s\n"
)

var _ = newVariations(2, variations{
	Wrong: []variation{
		{"a subdomain of its own: no such name", func(s *snapshot.Snapshot) { network(s, jobsetv1.Network{Subdomain: "example"}, notFound) }},
		{"a subdomain of its own: its name", func(s *snapshot.Snapshot) { network(s, jobsetv1.Network{Subdomain: "example"}, otherFound) }},
		{"DNS hostnames switched off", func(s *snapshot.Snapshot) {
			network(s, jobsetv1.Network{EnableDNSHostnames: ptr.To(false)}, notFound)
		}},
		{"DNS hostnames switched off: ping", func(s *snapshot.Snapshot) {
			network(s, jobsetv1.Network{EnableDNSHostnames: ptr.To(false)}, "")
			s.Files["dns.txt"] = "ping: bad address '" + leaderName + "'\n"
		}},
		{"the leader was started again since, and has another IP", func(s *snapshot.Snapshot) {
			replace(s, "dns.txt", leaderIP(s), "10.244.0.99")
			pod(s, "hello-leader").Status.ContainerStatuses[0].RestartCount = 1
		}},
		dnsSays("the IP by kubectl get pods -o wide", "NAME  READY  STATUS  RESTARTS  AGE  IP  NODE\nhello-leader-0-0-aaaaa  1/1  Running  0  5m  %s  node  <none>  <none>\n"),
		dnsSays("the IP by custom columns", "IP           NAME\n%s   hello-leader-0-0-aaaaa\n"),
		dnsSays("prose", "리더 파드의 IP 는 %s 입니다.\n"),
		dnsSays("only the command", "/ # nslookup FULLNAME %s\n"),
		says("ping of a worker", "PING "+leaderName+" (%s): 56 data bytes\n", workersIP),
		says("gethostbyname_ex of a worker", "('"+leaderName+"', [], ['%s'])\n", workersIP),
		says("getent ahosts of a worker", "%s  STREAM "+leaderName+"\n%s  DGRAM\n", workersIP),
	},
	Right: []variation{
		dnsSays("getent ahosts", "%s  STREAM FULLNAME\n%s  DGRAM\n%s  RAW\n"),
		dnsSays("ping", "PING FULLNAME (%s): 56 data bytes\n64 bytes from %s: seq=0 ttl=64 time=0.052 ms\n"),
		dnsSays("gethostbyname_ex", "('FULLNAME', [], ['%s'])\n"),
		dnsSays("Python's print", "FULLNAME %s\n"),
		dnsSays("Go's net.LookupHost", "[%s] <nil>\n"),
		dnsSays("Node's dns.lookup", "{ address: '%s', family: 4 }\n"),
		dnsSays("nc -v", "nc: FULLNAME (%s:80): Connection refused\n"),
		dnsSays("a copy of a terminal, with colours", "\x1b[32m/ # \x1b[0mnslookup FULLNAME 10.96.0.10\r\nServer:\t10.96.0.10\r\nAddress:\t10.96.0.10:53\r\n\r\nName:\tFULLNAME\r\nAddress: %s\r\n"),
		dnsSays("a copy of a terminal of 40 columns", "FULLNAME has addre\nss %s"),
		{"a subdomain of its own, and a Service that leads to the pod all the same", func(s *snapshot.Snapshot) {
			jobSet(s, "hello").Spec.Network = &jobsetv1.Network{Subdomain: "example"}
		}},
	},
})

// manifestAs writes the JobSet that stands in the cluster into its file.
func manifestAs(name string, write func(*jobsetv1.JobSet) any, form func(any) ([]byte, error)) variation {
	return variation{name, func(s *snapshot.Snapshot) {
		live := jobSet(s, "hello").DeepCopy()
		live.TypeMeta = metav1.TypeMeta{APIVersion: jobsetv1.GroupVersion.String(), Kind: "JobSet"}
		content, err := form(write(live))
		if err != nil {
			panic(err)
		}
		s.Files["hello.yaml"] = string(content)
	}}
}

func alone(j *jobsetv1.JobSet) any { return j }

func inAList(j *jobsetv1.JobSet) any {
	other := j.DeepCopy()
	other.Name = "own"
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{other, j}}
}

func changed(j *jobsetv1.JobSet) any {
	j.Spec.ReplicatedJobs[0].Replicas = 2
	return inAList(j)
}

func asJSONText(value any) ([]byte, error) { return json.MarshalIndent(value, "", "    ") }

var _ = newVariations(1, variations{
	Wrong: []variation{
		manifestAs("hello.yaml is a List with hello changed", changed, yaml.Marshal),
		manifestAs("hello.yaml is a List without hello", func(j *jobsetv1.JobSet) any {
			return map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{}}
		}, yaml.Marshal),
		{"hello.yaml is the command that prints it", func(s *snapshot.Snapshot) {
			s.Files["hello.yaml"] = "$ kubectl -n ml get jobset hello -o yaml\n" + s.Files["hello.yaml"]
		}},
		{"hello.yaml is the table of kubectl", func(s *snapshot.Snapshot) {
			s.Files["hello.yaml"] = "NAME    TERMINALSTATE   RESTARTS   COMPLETED   SUSPENDED   AGE\nhello                                          false       1m\n"
		}},
		{"a field of hello.yaml is of another type", func(s *snapshot.Snapshot) { replace(s, "hello.yaml", "replicas: 1", "replicas: one") }},
	},
	Right: []variation{
		manifestAs("hello.yaml by kubectl get -o yaml", alone, yaml.Marshal),
		manifestAs("hello.yaml by kubectl get -o json", alone, asJSONText),
		manifestAs("hello.yaml by kubectl get jobsets -o yaml", inAList, yaml.Marshal),
		manifestAs("hello.yaml by kubectl get jobsets -o json", inAList, asJSONText),
		{"hello.yaml after an object that is no JobSet and looks like one", func(s *snapshot.Snapshot) {
			s.Files["hello.yaml"] = "\ufeffapiVersion: own.test/v1\nkind: Own\nmetadata: {name: own}\nspec: {replicatedJobs: none, suspend: never}\n---\n" + s.Files["hello.yaml"]
		}},
	},
})

// each changes every line of a file.
func each(s *snapshot.Snapshot, file string, change func(key, value string) string) {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(s.Files[file]), "\n") {
		key, value, _ := strings.Cut(line, "=")
		lines = append(lines, change(key, value))
	}
	s.Files[file] = strings.Join(lines, "\n") + "\n"
}

// pairsAs are variations of a file of key=value in the forms of shells, tools and terminals.
func pairsAs(file string) (all []variation) {
	for name, format := range map[string]string{
		"double quotes, as a downward API volume has them": "%s=%q",
		"single quotes":          "%s='%s'",
		"quotes around the pair": "\"%s=%s\"",
		"export":                 "export %s=%s",
		"tabs":                   "\t%s\t=\t%s\t",
		"a list":                 "- %s=%s",
		"comments":               "# from the pod\n%s=%s  # seen",
		"colours":                "\x1b[1;34m%s\x1b[0m=\x1b[32m%s\x1b[0m",
		"commas":                 "%s=%s,",
		"a prompt and a command": "root@vm:~# kubectl get pod -o yaml | grep x=y\r\n%s=%s\r",
		"a byte order mark":      "\ufeff%s=%s",
		"blanks of a web page":   "\u00a0%s\u00a0=\u00a0%s",
	} {
		all = append(all, variation{"with " + name, func(s *snapshot.Snapshot) {
			each(s, file, func(key, value string) string { return fmt.Sprintf(format, key, value) })
		}})
	}
	return all
}

func oneLine(s *snapshot.Snapshot, file string) string {
	return strings.ReplaceAll(strings.TrimSpace(s.Files[file]), "\n", ",")
}

var _ = newVariations(3, variations{
	Wrong: []variation{
		{"double quotes around a wrong value", func(s *snapshot.Snapshot) {
			replace(s, "labels.txt", "job-completion-index=1", `job-completion-index="0"`)
		}},
		{"two pairs of quotes", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "=hello", `="'hello'"`) }},
		{"both workers' labels", func(s *snapshot.Snapshot) { s.Files["labels.txt"] += "batch.kubernetes.io/job-completion-index=0\n" }},
		{"JSON", func(s *snapshot.Snapshot) {
			content, _ := json.Marshal(pod(s, "hello-worker-0-1").Labels)
			s.Files["labels.txt"] = string(content)
		}},
		{"only the command", func(s *snapshot.Snapshot) {
			s.Files["labels.txt"] = "$ kubectl -n ml get pods -l jobset.sigs.k8s.io/replicatedjob-name=worker\n"
		}},
		{"get pods --show-labels", func(s *snapshot.Snapshot) {
			s.Files["labels.txt"] = "NAME READY STATUS RESTARTS AGE LABELS\nhello-worker-0-1-aaaaa 1/1 Running 0 5m " + oneLine(s, "labels.txt") + "\n"
		}},
	},
	Right: append(pairsAs("labels.txt"),
		variation{"one line, with commas", func(s *snapshot.Snapshot) { s.Files["labels.txt"] = oneLine(s, "labels.txt") }},
		variation{"the part of kubectl describe", func(s *snapshot.Snapshot) {
			s.Files["labels.txt"] = "Labels:           " + strings.ReplaceAll(s.Files["labels.txt"], "\n", "\n                  ")
		}},
		variation{"a terminal of 40 columns", func(s *snapshot.Snapshot) {
			replace(s, "labels.txt", "batch.kubernetes.io/job-completion-index=1", "batch.kubernetes.io/job-completion-index\n=1")
			replace(s, "labels.txt", "jobset.sigs.k8s.io/replicatedjob-name=worker", "jobset.sigs.k8s.io/replicatedjob-name=wo\nrker")
		}},
	),
})

var _ = newVariations(4, variations{
	Wrong: []variation{
		{"a count of before, in quotes", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = `restarts="0"` }},
		{"before and after", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts=0\nrestarts=1\n" }},
		{"the JobSet restarted once more since", restartedTwice},
		{"the column of kubectl", func(s *snapshot.Snapshot) {
			s.Files["restart.txt"] = "NAME      TERMINALSTATE   RESTARTS   COMPLETED   SUSPENDED   AGE\nfragile                   1                      false       1m\n"
		}},
		{"YAML", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts: 1\n" }},
		{"only the number", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "1\n" }},
		{"only the command", func(s *snapshot.Snapshot) {
			s.Files["restart.txt"] = "$ echo restarts=$(kubectl -n ml get jobset fragile -o jsonpath={.status.restarts})\n"
		}},
		{"a variable that nobody filled in", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts=$RESTARTS\n" }},
		{"nothing behind the equals sign", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts=\n" }},
		{"maxRestarts", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "maxRestarts=2\n" }},
	},
	Right: append(pairsAs("restart.txt"),
		variation{"the same twice", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts=1\nrestarts = 1\n" }},
		variation{"the table and the answer below it", func(s *snapshot.Snapshot) {
			s.Files["restart.txt"] = "NAME      TERMINALSTATE   RESTARTS   COMPLETED   SUSPENDED   AGE\nfragile                   1                      false       1m\n\nrestarts=1"
		}},
		variation{"words around it", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "fragile: restarts=1, maxRestarts=2\n" }},
	),
})
