package steps

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

const queueLabel = "kueue.x-k8s.io/queue-name"

// looksFirst gives train's pods an init container that asks for GPUs.
func looksFirst(s *snapshot.Snapshot, gpus string) {
	for _, name := range []string{"leader", "worker"} {
		role(s, "train", name).Template.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "look", Image: "busybox:1.35.0",
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)}}}}
	}
}

// lastWorker is the name of train's second worker pod.
func lastWorker(s *snapshot.Snapshot) string { return pod(s, "train-worker-0-1").Name }

var _ = newVariations(6, variations{
	Wrong: []variation{
		{"no queue label", func(s *snapshot.Snapshot) { jobSet(s, "train").Labels = nil }},
		{"the queue label on the Job templates", func(s *snapshot.Snapshot) {
			jobSet(s, "train").Labels = nil
			for _, name := range []string{"leader", "worker"} {
				role(s, "train", name).Template.Labels = map[string]string{queueLabel: "lq"}
			}
		}},
		{"the queue label on the pod templates", func(s *snapshot.Snapshot) {
			jobSet(s, "train").Labels = nil
			for _, name := range []string{"leader", "worker"} {
				role(s, "train", name).Template.Spec.Template.Labels = map[string]string{queueLabel: "lq"}
			}
		}},
		{"the ClusterQueue's name in the queue label", func(s *snapshot.Snapshot) { jobSet(s, "train").Labels[queueLabel] = "ml" }},
		{"two GPUs in all", func(s *snapshot.Snapshot) { container(s, "train", "leader").Resources.Limits = nil }},
		{"two GPUs for one pod", func(s *snapshot.Snapshot) {
			container(s, "train", "leader").Resources.Limits["nvidia.com/gpu"] = resource.MustParse("2")
		}},
		{"GPUs in requests only", func(s *snapshot.Snapshot) {
			resources := &container(s, "train", "worker").Resources
			resources.Requests, resources.Limits = resources.Limits, nil
		}},
		{"a quota that is borrowed", func(s *snapshot.Snapshot) {
			s.ClusterQueue.Status.FlavorsReservation[0].Resources[0].Borrowed = resource.MustParse("1")
		}},
		{"an init container that asks for two GPUs", func(s *snapshot.Snapshot) { looksFirst(s, "2") }},
		{"one worker", func(s *snapshot.Snapshot) { workers(s, "train", 1) }},
		{"no Workload", func(s *snapshot.Snapshot) { dropWorkload(s, "train") }},
		{"two Workloads", func(s *snapshot.Snapshot) {
			second := workload(s, "train").DeepCopy()
			second.Name, second.UID = "jobset-train-other", "uid-of-another"
			s.Workloads = append(s.Workloads, *second)
		}},
		{"a Workload that is deactivated", func(s *snapshot.Snapshot) { workload(s, "train").Spec.Active = ptr.To(false) }},
		{"one podSet", func(s *snapshot.Snapshot) { workload(s, "train").Spec.PodSets = workload(s, "train").Spec.PodSets[:1] }},
		{"a podSet of another size", func(s *snapshot.Snapshot) { workload(s, "train").Spec.PodSets[1].Count = 1 }},
		{"not admitted", func(s *snapshot.Snapshot) {
			workload(s, "train").Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: "Pending",
				Message: "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor default-flavor, 1 more needed"}}
		}},
		{"one pod Pending", func(s *snapshot.Snapshot) {
			waits(pod(s, "train-worker-0-1"), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
		}},
		{"two pods on one device", func(s *snapshot.Snapshot) {
			s.Devices[pod(s, "train-leader").Name] = "gpu-0"
			s.Devices[pod(s, "train-worker-0-0").Name], s.Devices[lastWorker(s)] = "gpu-1", "gpu-1"
		}},
		{"a pod without a device", func(s *snapshot.Snapshot) { s.Devices[lastWorker(s)] = "" }},
		{"a device that nobody could see", func(s *snapshot.Snapshot) {
			delete(s.Devices, lastWorker(s))
			s.DevicesUnseen = map[string]string{lastWorker(s): "env is not in this image"}
		}},
		{"two of three GPUs in use", func(s *snapshot.Snapshot) {
			s.ClusterQueue.Status.FlavorsUsage[0].Resources[0].Total = resource.MustParse("2")
		}},
		{"a quota of five", func(s *snapshot.Snapshot) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("5")
		}},
		{"no train.yaml", func(s *snapshot.Snapshot) { delete(s.Files, "train.yaml") }},
		{"train.yaml without the label", func(s *snapshot.Snapshot) {
			replace(s, "train.yaml", "    kueue.x-k8s.io/queue-name: lq\n", "    kueue.x-k8s.io/queue: lq\n")
		}},
	},
	Right: []variation{
		{"an init container that asks for the same GPU", func(s *snapshot.Snapshot) {
			looksFirst(s, "1")
			replace(s, "train.yaml", "            containers:\n", "            initContainers: [{name: look, image: 'busybox:1.35.0', resources: {limits: {nvidia.com/gpu: 1}}}]\n            containers:\n")
		}},
		{"a device plugin that sets no variable", func(s *snapshot.Snapshot) {
			delete(s.Devices, lastWorker(s))
			s.DevicesUnseen = map[string]string{lastWorker(s): snapshot.NoDeviceVariable}
		}},
		{"the podSets in the other order", func(s *snapshot.Snapshot) { slices.Reverse(workload(s, "train").Spec.PodSets) }},
		{"GPUs in requests and in limits", func(s *snapshot.Snapshot) {
			resources := &container(s, "train", "worker").Resources
			resources.Requests = resources.Limits.DeepCopy()
		}},
		{"requests for cpu and memory where the queue has them", func(s *snapshot.Snapshot) {
			requests(s, "train")
			coverAll(s)
		}},
		{"another image, command and container name", func(s *snapshot.Snapshot) {
			otherWords(s, "train")
			otherWordsInFile(s, "train.yaml")
		}},
		{"the worker before the leader", func(s *snapshot.Snapshot) {
			workerFirst(s, "train")
			workerFirstInFile(s, "train.yaml")
		}},
		{"train.yaml with CRLF and suspend: true", func(s *snapshot.Snapshot) {
			replace(s, "train.yaml", "spec:\n  replicatedJobs", "spec:\n  suspend: true\n  replicatedJobs")
			asOnWindows(s, "train.yaml")
		}},
		{"labels that Kueue added", func(s *snapshot.Snapshot) { jobSet(s, "train").Labels["kueue.x-k8s.io/managed"] = "true" }},
	},
})

var _ = newVariations(7, variations{
	Wrong: []variation{
		{"three GPUs", func(s *snapshot.Snapshot) { workers(s, "big", 2) }},
		{"five GPUs for one pod", func(s *snapshot.Snapshot) {
			container(s, "big", "leader").Resources.Limits["nvidia.com/gpu"] = resource.MustParse("5")
		}},
		{"admitted", func(s *snapshot.Snapshot) {
			jobSet(s, "big").Spec.Suspend = ptr.To(false)
			workload(s, "big").Status.Conditions = workload(s, "train").Status.Conditions
		}},
		{"suspended by hand, without a queue", func(s *snapshot.Snapshot) {
			jobSet(s, "big").Labels = nil
			dropWorkload(s, "big")
		}},
		{"Kueue has not looked yet", func(s *snapshot.Snapshot) { workload(s, "big").Status.Conditions = nil }},
		{"the LocalQueue is missing", func(s *snapshot.Snapshot) {
			refusedQuota(s, "big").Reason, refusedQuota(s, "big").Message = kueuev1.WorkloadInadmissible, "LocalQueue lq doesn't exist"
		}},
		{"a podSet too few", func(s *snapshot.Snapshot) { workload(s, "big").Spec.PodSets = workload(s, "big").Spec.PodSets[:1] }},
		{"a podSet of three pods", func(s *snapshot.Snapshot) { workload(s, "big").Spec.PodSets[1].Count = 3 }},
		{"a deactivated Workload", func(s *snapshot.Snapshot) { workload(s, "big").Spec.Active = ptr.To(false) }},
		{"a taint of the flavor", func(s *snapshot.Snapshot) {
			refusedQuota(s, "big").Message = "couldn't assign flavors to pod set leader: untolerated taint {spot true NoSchedule <nil>} in flavor default-flavor"
			s.Files["big.txt"] = refusedQuota(s, "big").Message
		}},
		{"a topology that has no room", func(s *snapshot.Snapshot) {
			refusedQuota(s, "big").Message = `couldn't assign flavors to pod set worker: topology "default" doesn't allow to fit any of 4 pod(s)`
			s.Files["big.txt"] = refusedQuota(s, "big").Message
		}},
		{"a cpu request that the queue does not cover", func(s *snapshot.Snapshot) {
			container(s, "big", "leader").Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
			refusedQuota(s, "big").Message = "couldn't assign flavors to pod set leader: resource cpu unavailable in ClusterQueue"
			s.Files["big.txt"] = refusedQuota(s, "big").Message
		}},
		{"not suspended", func(s *snapshot.Snapshot) { jobSet(s, "big").Spec.Suspend = ptr.To(false) }},
		{"a pod that is there", func(s *snapshot.Snapshot) {
			beside(s, pod(s, "train-leader"), "big-leader-0-0-w2q9r", false).Labels[jobsetv1.JobSetNameKey] = "big"
		}},
		{"a pod that was there once", func(s *snapshot.Snapshot) {
			s.Seen.Objects = append(s.Seen.Objects, snapshot.ObjectHistory{Kind: "Pod", Name: "big-leader-0-0-w2q9r", UID: "pod-big", JobSet: "big",
				Transitions: []snapshot.Transition{{At: 31.3, State: "Seen"}, {At: 31.9, State: "Gone"}}})
		}},
		{"a pod that only its event tells of", func(s *snapshot.Snapshot) {
			s.Events = append(s.Events, snapshot.Event{At: 31.3, Type: "Normal", Reason: "SuccessfulCreate", Object: "Job/big-leader-0",
				UID: job(s, "big-leader-0").UID, Message: "Created pod: big-leader-0-0-w2q9r"})
		}},
		{"no big.txt", func(s *snapshot.Snapshot) { delete(s.Files, "big.txt") }},
		{"an empty big.txt", func(s *snapshot.Snapshot) { s.Files["big.txt"] = " \n" }},
		{"big.txt with the reason of another JobSet", func(s *snapshot.Snapshot) { s.Files["big.txt"] = "Quota reserved in ClusterQueue ml\n" }},
		{"big.txt says only Pending", func(s *snapshot.Snapshot) { s.Files["big.txt"] = "Pending\n" }},
	},
	Right: []variation{
		{"the newer name of the reason, and only that", func(s *snapshot.Snapshot) {
			refusedQuota(s, "big").Reason = kueuev1.WorkloadQuotaReservedReasonExceedsMaxQuota
			s.Files["big.txt"] = "reason: ExceedsMaxQuota"
		}},
		{"all of kubectl describe workload, with CRLF", func(s *snapshot.Snapshot) {
			s.Files["big.txt"] = "Name: " + workload(s, "big").Name + "\nStatus:\r\n  Conditions:\r\n    Message:  " +
				strings.Replace(refusedQuota(s, "big").Message, "flavor default-flavor, ", "flavor\r\n      default-flavor, ", 1) + "\r\n    Reason: Pending\r\n"
		}},
		{"the worker's clause only", func(s *snapshot.Snapshot) {
			_, clause, _ := strings.Cut(s.Files["big.txt"], "; ")
			s.Files["big.txt"] = clause
		}},
		{"a reason that Kueue gave earlier", func(s *snapshot.Snapshot) {
			earlier := "couldn't assign flavors to pod set worker: insufficient quota for nvidia.com/gpu in flavor default-flavor, earlier words"
			s.Events = append(s.Events, snapshot.Event{At: 31.1, Type: "Warning", Reason: "Pending", Object: "Workload/" + workload(s, "big").Name,
				UID: workload(s, "big").UID, Message: earlier})
			s.Files["big.txt"] = earlier
		}},
		{"requests for cpu and memory where the queue has them, the worker before the leader", func(s *snapshot.Snapshot) {
			requests(s, "big")
			coverAll(s)
			workerFirst(s, "big")
		}},
		{"a label of the learner's own", func(s *snapshot.Snapshot) { jobSet(s, "big").Labels["own"] = "label" }},
	},
})
