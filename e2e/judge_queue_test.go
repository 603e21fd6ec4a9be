package e2e

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/lab"
)

const queueLabel = "kueue.x-k8s.io/queue-name"

var _ = vary(6, variations{
	wrong: []variation{
		{"no queue label", func(s *lab.Snapshot) { jobSet(s, "train").Labels = nil }},
		{"the queue label on the Job templates", func(s *lab.Snapshot) {
			jobSet(s, "train").Labels = nil
			for _, name := range []string{"leader", "worker"} {
				role(s, "train", name).Template.Labels = map[string]string{queueLabel: "lq"}
			}
		}},
		{"another queue", func(s *lab.Snapshot) { jobSet(s, "train").Labels[queueLabel] = "ml" }},
		{"two GPUs in all", func(s *lab.Snapshot) {
			role(s, "train", "leader").Template.Spec.Template.Spec.Containers[0].Resources.Limits = nil
		}},
		{"two GPUs for one pod", func(s *lab.Snapshot) {
			role(s, "train", "leader").Template.Spec.Template.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"] = resource.MustParse("2")
		}},
		{"no Workload", func(s *lab.Snapshot) { s.Workloads = s.Workloads[1:] }},
		{"two Workloads", func(s *lab.Snapshot) {
			second := s.Workloads[0].DeepCopy()
			second.Name, second.UID = "jobset-train-other", "wl-other"
			s.Workloads = append(s.Workloads, *second)
		}},
		{"one podSet", func(s *lab.Snapshot) { s.Workloads[0].Spec.PodSets = s.Workloads[0].Spec.PodSets[:1] }},
		{"a podSet of another size", func(s *lab.Snapshot) { s.Workloads[0].Spec.PodSets[1].Count = 1 }},
		{"not admitted", func(s *lab.Snapshot) {
			s.Workloads[0].Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: "Pending",
				Message: "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor default-flavor, 1 more needed"}}
		}},
		{"one pod Pending", func(s *lab.Snapshot) {
			pod(s, "train-worker-0-1").Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
				Message: "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}}}
		}},
		{"two pods on one device", func(s *lab.Snapshot) { s.Devices["train-worker-0-1-k3f7t"] = "gpu-2" }},
		{"a pod without a device", func(s *lab.Snapshot) { s.Devices["train-worker-0-1-k3f7t"] = "" }},
		{"a device that nobody could see", func(s *lab.Snapshot) { delete(s.Devices, "train-worker-0-1-k3f7t") }},
		{"quota in use 2 of 3", func(s *lab.Snapshot) {
			s.ClusterQueue.Status.FlavorsUsage[0].Resources[0].Total = resource.MustParse("2")
		}},
		{"quota 5", func(s *lab.Snapshot) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("5")
		}},
		{"train.yaml without the label", func(s *lab.Snapshot) {
			replace(s, "train.yaml", "    kueue.x-k8s.io/queue-name: lq\n", "    kueue.x-k8s.io/queue: lq\n")
		}},
	},
	right: []variation{
		{"podSets in the other order", func(s *lab.Snapshot) { slices.Reverse(s.Workloads[0].Spec.PodSets) }},
		{"requests beside limits", func(s *lab.Snapshot) {
			resources := &role(s, "train", "worker").Template.Spec.Template.Spec.Containers[0].Resources
			resources.Requests = resources.Limits.DeepCopy()
		}},
		{"suspend: true in the file", func(s *lab.Snapshot) {
			replace(s, "train.yaml", "spec:\n  replicatedJobs", "spec:\n  suspend: true\n  replicatedJobs")
		}},
		{"labels that Kueue added", func(s *lab.Snapshot) { jobSet(s, "train").Labels["kueue.x-k8s.io/managed"] = "true" }},
	},
})

var _ = vary(7, variations{
	wrong: []variation{
		{"three GPUs", func(s *lab.Snapshot) {
			job := &role(s, "big", "worker").Template.Spec
			job.Parallelism, job.Completions = ptr.To[int32](2), ptr.To[int32](2)
		}},
		{"admitted", func(s *lab.Snapshot) {
			jobSet(s, "big").Spec.Suspend = ptr.To(false)
			s.Workloads[1].Status.Conditions = s.Workloads[0].Status.Conditions
		}},
		{"suspended by hand, without a queue", func(s *lab.Snapshot) {
			jobSet(s, "big").Labels = nil
			s.Workloads = s.Workloads[:1]
		}},
		{"nobody has looked yet", func(s *lab.Snapshot) { s.Workloads[1].Status.Conditions = nil }},
		{"the LocalQueue is missing", func(s *lab.Snapshot) {
			s.Workloads[1].Status.Conditions[0].Reason = kueuev1.WorkloadInadmissible
			s.Workloads[1].Status.Conditions[0].Message = "LocalQueue lq doesn't exist"
		}},
		{"not suspended", func(s *lab.Snapshot) { jobSet(s, "big").Spec.Suspend = ptr.To(false) }},
		{"a pod is there", func(s *lab.Snapshot) {
			extra := pod(s, "train-leader").DeepCopy()
			extra.Name, extra.UID = "big-leader-0-0-w2q9r", "pod-big"
			extra.Labels[jobsetv1.JobSetNameKey] = "big"
			s.Pods = append(s.Pods, *extra)
		}},
		{"a pod was there once", func(s *lab.Snapshot) {
			s.Seen.Sightings = append(s.Seen.Sightings, lab.Sighting{Kind: "Pod", Name: "big-leader-0-0-w2q9r", UID: "pod-big", JobSet: "big",
				Moments: []lab.Moment{{At: 31.3, State: "Seen"}, {At: 31.9, State: "Gone"}}})
		}},
		{"a pod that only its event tells of", func(s *lab.Snapshot) {
			s.Events = append(s.Events, lab.Event{At: 31.3, Type: "Normal", Reason: "SuccessfulCreate", Object: "Job/big-leader-0",
				UID: "job-big-leader-0", Message: "Created pod: big-leader-0-0-w2q9r"})
		}},
		{"no big.txt", func(s *lab.Snapshot) { delete(s.Files, "big.txt") }},
		{"an empty big.txt", func(s *lab.Snapshot) { s.Files["big.txt"] = " \n" }},
		{"the reason of another JobSet", func(s *lab.Snapshot) { s.Files["big.txt"] = "Quota reserved in ClusterQueue ml\n" }},
		{"only that it is Pending", func(s *lab.Snapshot) { s.Files["big.txt"] = "Pending\n" }},
	},
	right: []variation{
		{"the newer name of the reason, and only that", func(s *lab.Snapshot) {
			s.Workloads[1].Status.Conditions[0].Reason = kueuev1.WorkloadQuotaReservedReasonExceedsMaxQuota
			s.Files["big.txt"] = "reason: ExceedsMaxQuota\n"
		}},
		{"all of kubectl describe workload", func(s *lab.Snapshot) {
			message := s.Workloads[1].Status.Conditions[0].Message
			s.Files["big.txt"] = "Name: jobset-big-a7d30\nStatus:\r\n  Conditions:\r\n    Message:  " +
				strings.Replace(message, "flavor default-flavor, ", "flavor\r\n      default-flavor, ", 1) + "\r\n    Reason: Pending\r\n"
		}},
		{"the worker's clause only", func(s *lab.Snapshot) {
			_, clause, _ := strings.Cut(s.Files["big.txt"], "; ")
			s.Files["big.txt"] = clause
		}},
		{"written before train was admitted", func(s *lab.Snapshot) {
			earlier := "couldn't assign flavors to pod set worker: insufficient quota for nvidia.com/gpu in flavor default-flavor, earlier words"
			s.Events[1].Message = earlier
			s.Files["big.txt"] = earlier
		}},
		{"a label of the learner's own", func(s *lab.Snapshot) { jobSet(s, "big").Labels["own"] = "label" }},
	},
})

var _ = vary(8, variations{
	wrong: []variation{
		{"no report.json", func(s *lab.Snapshot) { delete(s.Files, "report.json") }},
		{"not JSON", func(s *lab.Snapshot) { replace(s, "report.json", `"train"`, `train`) }},
		{"a list, not an object", func(s *lab.Snapshot) { s.Files["report.json"] = `["train", "big", 1]` }},
		{"an unqueued JobSet as admitted", func(s *lab.Snapshot) { replace(s, "report.json", `"train"`, `"hello", "train"`) }},
		{"nothing admitted", func(s *lab.Snapshot) { replace(s, "report.json", `"train"`, ``) }},
		{"train twice", func(s *lab.Snapshot) { replace(s, "report.json", `"train"`, `"train", "train"`) }},
		{"big missing from suspended", func(s *lab.Snapshot) { replace(s, "report.json", `"big"`, ``) }},
		{"a missing key", func(s *lab.Snapshot) { replace(s, "report.json", "fragile_restarts", "restarts") }},
		{"a fourth key", func(s *lab.Snapshot) {
			replace(s, "report.json", `"fragile_restarts"`, `"note": "ok", "fragile_restarts"`)
		}},
		{"text for the number", func(s *lab.Snapshot) { replace(s, "report.json", `: 1`, `: "1"`) }},
		{"null for the number", func(s *lab.Snapshot) { replace(s, "report.json", `: 1`, `: null`) }},
		{"text for a list", func(s *lab.Snapshot) {
			s.Files["report.json"] = `{"admitted": "train", "suspended": ["big"], "fragile_restarts": 1}`
		}},
		{"a stale count", func(s *lab.Snapshot) { replace(s, "report.json", `: 1`, `: 2`) }},
	},
	right: []variation{
		{"one line, another key order", func(s *lab.Snapshot) {
			s.Files["report.json"] = `{"fragile_restarts":1,"suspended":["big"],"admitted":["train"]}`
		}},
		{"CRLF", func(s *lab.Snapshot) {
			s.Files["report.json"] = strings.ReplaceAll(s.Files["report.json"], "\n", "\r\n")
		}},
		{"a JobSet of the learner's own, suspended by hand", func(s *lab.Snapshot) {
			own := jobSet(s, "hello").DeepCopy()
			own.Name, own.UID, own.Spec.Suspend = "mine", "js-mine", ptr.To(true)
			s.JobSets = append(s.JobSets, *own)
			replace(s, "report.json", `"big"`, `"mine", "big"`)
		}},
	},
})
