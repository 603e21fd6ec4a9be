package e2e

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/lab"
)

var _ = vary(1, variations{
	wrong: []variation{
		{"hello was never applied", func(s *lab.Snapshot) { drop(s, "hello") }},
		{"hello in another namespace", func(s *lab.Snapshot) {
			drop(s, "hello")
			s.Elsewhere = []string{"default/hello"}
		}},
		{"one worker", func(s *lab.Snapshot) { workers(s, 1) }},
		{"three workers", func(s *lab.Snapshot) { workers(s, 3) }},
		{"two worker Jobs of one pod", func(s *lab.Snapshot) {
			workers(s, 1)
			role(s, "hello", "worker").Replicas = 2
		}},
		{"a role by another name", func(s *lab.Snapshot) { role(s, "hello", "worker").Name = "workers" }},
		{"a queue label", func(s *lab.Snapshot) {
			jobSet(s, "hello").Labels = map[string]string{"kueue.x-k8s.io/queue-name": "lq"}
		}},
		{"a GPU for the leader", func(s *lab.Snapshot) {
			role(s, "hello", "leader").Template.Spec.Template.Spec.Containers[0].Resources.Limits =
				corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}},
		{"a pod Pending", func(s *lab.Snapshot) {
			status := &pod(s, "hello-worker-0-1").Status
			*status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
				Message: "0/1 nodes are available: 1 Insufficient memory.",
			}}}
		}},
		{"a container that was restarted", func(s *lab.Snapshot) {
			pod(s, "hello-leader").Status.ContainerStatuses[0].RestartCount = 2
		}},
		{"an image that is not there", func(s *lab.Snapshot) {
			status := &pod(s, "hello-leader").Status
			status.Phase, status.Conditions = corev1.PodPending, nil
			status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ImagePullBackOff", Message: `Back-off pulling image "busybox:1.35.0"`,
			}}
		}},
		{"one pod gone", func(s *lab.Snapshot) {
			s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return strings.HasPrefix(p.Name, "hello-worker-0-1") })
		}},
		{"a quota on pods", func(s *lab.Snapshot) {
			s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return strings.HasPrefix(p.Name, "hello-worker-0-1") })
			s.Events = append(s.Events, lab.Event{At: 1, Type: "Warning", Reason: "FailedCreate", Object: "Job/hello-worker-0",
				UID: "job-hello-worker-0", Message: `Error creating: pods "hello-worker-0-1-xxvq8" is forbidden: exceeded quota: pods`})
		}},
		{"suspended by hand", func(s *lab.Snapshot) {
			jobSet(s, "hello").Spec.Suspend = ptr.To(true)
			s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return strings.HasPrefix(p.Name, "hello-") })
		}},
		{"no hello.yaml", func(s *lab.Snapshot) { delete(s.Files, "hello.yaml") }},
		{"hello.yaml says three workers", func(s *lab.Snapshot) { replace(s, "hello.yaml", "completions: 2", "completions: 3") }},
		{"hello.yaml is another JobSet", func(s *lab.Snapshot) { replace(s, "hello.yaml", "name: hello", "name: hallo") }},
		{"hello.yaml is for another namespace", func(s *lab.Snapshot) { replace(s, "hello.yaml", "namespace: ml", "namespace: default") }},
		{"hello.yaml is not YAML", func(s *lab.Snapshot) { s.Files["hello.yaml"] = "kind: JobSet\n\tmetadata: {" }},
	},
	right: []variation{
		{"another image, command and container name", func(s *lab.Snapshot) {
			for _, name := range []string{"leader", "worker"} {
				container := &role(s, "hello", name).Template.Spec.Template.Spec.Containers[0]
				container.Name, container.Image, container.Command = "main", "alpine:3", []string{"tail", "-f", "/dev/null"}
			}
			replace(s, "hello.yaml", "- name: leader\n              image", "- name: main\n              image")
			replace(s, "hello.yaml", "- name: worker\n              image", "- name: main\n              image")
			replace(s, "hello.yaml", "busybox:1.35.0", "alpine:3")
			replace(s, "hello.yaml", `["sleep", "86400"]`, `[tail, -f, /dev/null]`)
		}},
		{"the worker before the leader", func(s *lab.Snapshot) {
			slices.Reverse(jobSet(s, "hello").Spec.ReplicatedJobs)
			head, roles, _ := strings.Cut(s.Files["hello.yaml"], "  - name: leader\n    replicas")
			leader, worker, _ := strings.Cut(roles, "  - name: worker\n    replicas")
			s.Files["hello.yaml"] = head + "  - name: worker\n    replicas" + worker + "  - name: leader\n    replicas" + leader
		}},
		{"memory requests", func(s *lab.Snapshot) {
			role(s, "hello", "leader").Template.Spec.Template.Spec.Containers[0].Resources.Requests =
				corev1.ResourceList{"memory": resource.MustParse("16Mi")}
		}},
		{"CRLF and a byte order mark", func(s *lab.Snapshot) {
			s.Files["hello.yaml"] = "\ufeff" + strings.ReplaceAll(s.Files["hello.yaml"], "\n", "\r\n")
		}},
		{"no namespace in the file, given with -n", func(s *lab.Snapshot) { replace(s, "hello.yaml", "  namespace: ml\n", "") }},
		{"two documents in the file", func(s *lab.Snapshot) {
			s.Files["hello.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n---\n" + s.Files["hello.yaml"]
		}},
		{"a JobSet of the learner's own beside it", func(s *lab.Snapshot) {
			own := jobSet(s, "hello").DeepCopy()
			own.Name, own.UID = "hello-again", "js-hello-again"
			s.JobSets = append(s.JobSets, *own)
		}},
		{"a pod of an older try still Terminating", func(s *lab.Snapshot) {
			old := pod(s, "hello-leader").DeepCopy()
			old.Name, old.UID, old.DeletionTimestamp = "hello-leader-0-0-old", "old", &metav1.Time{}
			s.Pods = append(s.Pods, *old)
		}},
	},
})

// drop takes a JobSet away, and its pods.
func drop(s *lab.Snapshot, name string) {
	s.JobSets = slices.DeleteFunc(s.JobSets, func(j jobsetv1.JobSet) bool { return j.Name == name })
	s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return p.Labels[jobsetv1.JobSetNameKey] == name })
}

// workers makes hello's worker Job one of n pods, in the cluster and the file.
func workers(s *lab.Snapshot, n int32) {
	job := &role(s, "hello", "worker").Template.Spec
	job.Parallelism, job.Completions = ptr.To(n), ptr.To(n)
	replace(s, "hello.yaml", "parallelism: 2", fmt.Sprintf("parallelism: %d", n))
	replace(s, "hello.yaml", "completions: 2", fmt.Sprintf("completions: %d", n))
}

const leaderName = "hello-leader-0-0.hello.ml.svc.cluster.local"

var _ = vary(2, variations{
	wrong: []variation{
		{"no dns.txt", func(s *lab.Snapshot) { delete(s.Files, "dns.txt") }},
		{"the worker's IP", func(s *lab.Snapshot) { replace(s, "dns.txt", "10.244.0.9", "10.244.0.10") }},
		{"only the DNS server's own address, which is the leader's by chance", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = "Server:\t\t10.244.0.9\nAddress:\t10.244.0.9:53\n\n** server can't find " + leaderName + ": NXDOMAIN\n"
		}},
		{"NXDOMAIN", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n** server can't find hello-leader-0-0: NXDOMAIN\n"
		}},
		{"the Service's name only", func(s *lab.Snapshot) { replace(s, "dns.txt", "hello-leader-0-0.hello.ml", "hello.ml") }},
		{"the IP of a leader pod that is gone", func(s *lab.Snapshot) {
			replace(s, "dns.txt", "10.244.0.9", "10.244.0.5")
			s.Seen.Sightings = append(s.Seen.Sightings, lab.Sighting{Kind: "Pod", Name: "hello-leader-0-0-qqqqq", UID: "gone",
				JobSet: "hello", Address: "10.244.0.5", Moments: []lab.Moment{{At: 0.2, State: "Seen"}, {At: 0.4, State: "Gone"}}})
		}},
		{"two answers, one of them old", func(s *lab.Snapshot) {
			s.Files["dns.txt"] += "Name:\t" + leaderName + "\nAddress: 10.244.0.77\n"
		}},
		{"the name without an answer", func(s *lab.Snapshot) { s.Files["dns.txt"] = leaderName + "\n" }},
		{"empty", func(s *lab.Snapshot) { s.Files["dns.txt"] = "\n" }},
	},
	right: []variation{
		{"getent hosts", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = "10.244.0.9        " + leaderName + "  hello-leader-0-0\n"
		}},
		{"an old busybox", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = "Server:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns.kube-system.svc.cluster.local\n\n" +
				"Name:      " + leaderName + "\nAddress 1: 10.244.0.9 " + leaderName + "\n"
		}},
		{"BIND's nslookup with a dot at the end", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\t" + leaderName + ".\nAddress: 10.244.0.9\n"
		}},
		{"dig", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = ";; ANSWER SECTION:\n" + leaderName + ". 30 IN A 10.244.0.9\n;; SERVER: 10.96.0.10#53\n"
		}},
		{"the address alone", func(s *lab.Snapshot) { s.Files["dns.txt"] = "10.244.0.9" }},
		{"CRLF and a complaint about AAAA", func(s *lab.Snapshot) {
			s.Files["dns.txt"] = strings.ReplaceAll(s.Files["dns.txt"]+"*** Can't find "+leaderName+": No answer\n", "\n", "\r\n")
		}},
	},
})

var _ = vary(3, variations{
	wrong: []variation{
		{"index 0", func(s *lab.Snapshot) { replace(s, "labels.txt", "completion-index=1", "completion-index=0") }},
		{"job-index taken for the completion index", func(s *lab.Snapshot) { replace(s, "labels.txt", "job-index=0", "job-index=1") }},
		{"the wrong prefix", func(s *lab.Snapshot) { replace(s, "labels.txt", "jobset.sigs.k8s.io/", "jobset.x-k8s.io/") }},
		{"three keys", func(s *lab.Snapshot) { replace(s, "labels.txt", "jobset.sigs.k8s.io/job-index=0\n", "") }},
		{"five keys", func(s *lab.Snapshot) { s.Files["labels.txt"] += "jobset.sigs.k8s.io/restart-attempt=0\n" }},
		{"the leader's", func(s *lab.Snapshot) {
			replace(s, "labels.txt", "replicatedjob-name=worker", "replicatedjob-name=leader")
		}},
		{"YAML instead of key=value", func(s *lab.Snapshot) { replace(s, "labels.txt", "=", ": ") }},
		{"empty", func(s *lab.Snapshot) { s.Files["labels.txt"] = "" }},
	},
	right: []variation{
		{"another order", func(s *lab.Snapshot) {
			lines := strings.Fields(s.Files["labels.txt"])
			slices.Reverse(lines)
			s.Files["labels.txt"] = strings.Join(lines, "\n")
		}},
		{"CRLF and blanks at the end", func(s *lab.Snapshot) {
			s.Files["labels.txt"] = strings.ReplaceAll(s.Files["labels.txt"], "\n", "  \r\n") + "\r\n"
		}},
		{"no newline at the end", func(s *lab.Snapshot) { s.Files["labels.txt"] = strings.TrimSpace(s.Files["labels.txt"]) }},
	},
})
