package steps

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

var _ = newVariations(1, variations{
	Wrong: []variation{
		{"hello was never applied", func(s *snapshot.Snapshot) { drop(s, "hello") }},
		{"hello in another namespace", func(s *snapshot.Snapshot) {
			drop(s, "hello")
			s.Elsewhere = []string{"default/hello"}
		}},
		{"one worker", func(s *snapshot.Snapshot) { helloWorkers(s, 1) }},
		{"three workers", func(s *snapshot.Snapshot) { helloWorkers(s, 3) }},
		{"two worker Jobs of one pod each", func(s *snapshot.Snapshot) {
			helloWorkers(s, 1)
			role(s, "hello", "worker").Replicas = 2
		}},
		{"completions without parallelism", func(s *snapshot.Snapshot) { role(s, "hello", "worker").Template.Spec.Parallelism = nil }},
		{"parallelism without completions", func(s *snapshot.Snapshot) { role(s, "hello", "worker").Template.Spec.Completions = nil }},
		{"a role by another name", func(s *snapshot.Snapshot) { role(s, "hello", "worker").Name = "workers" }},
		{"a queue label", func(s *snapshot.Snapshot) { jobSet(s, "hello").Labels = map[string]string{queueLabel: "lq"} }},
		{"a queue label on the pod template", func(s *snapshot.Snapshot) {
			role(s, "hello", "worker").Template.Spec.Template.Labels = map[string]string{queueLabel: "lq"}
		}},
		{"a GPU for the leader", func(s *snapshot.Snapshot) {
			container(s, "hello", "leader").Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}},
		{"a pod Pending", func(s *snapshot.Snapshot) {
			waits(pod(s, "hello-worker-0-1"), "0/1 nodes are available: 1 Insufficient memory.")
		}},
		{"a pod whose container was restarted", func(s *snapshot.Snapshot) {
			pod(s, "hello-leader").Status.ContainerStatuses[0].RestartCount = 2
		}},
		{"a pod whose container has just been started again", func(s *snapshot.Snapshot) {
			againSince(s, pod(s, "hello-leader"), 1, 5*time.Second)
		}},
		{"a pod whose container is started again and again", func(s *snapshot.Snapshot) {
			againSince(s, pod(s, "hello-leader"), 4, time.Minute)
		}},
		{"a sidecar that fails again and again", func(s *snapshot.Snapshot) { sidecarAgainSince(s, pod(s, "hello-leader"), 7, time.Minute) }},
		{"a pod that runs and is never ready", func(s *snapshot.Snapshot) {
			p := pod(s, "hello-worker-0-1")
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"}}
			p.Status.ContainerStatuses[0].Ready = false
		}},
		{"NonIndexed Jobs, and one of two workers", func(s *snapshot.Snapshot) {
			nonIndexed(s, "hello")
			dropPods(s, "hello-worker-0-1")
		}},
		{"a pod of the JobSet's labels that no Job made", func(s *snapshot.Snapshot) { pod(s, "hello-worker-0-1").OwnerReferences = nil }},
		{"a Job of the JobSet's labels that it did not make", func(s *snapshot.Snapshot) { job(s, "hello-worker-0").OwnerReferences[0].UID = "uid-of-another" }},
		{"a pod whose Job is gone", func(s *snapshot.Snapshot) { job(s, "hello-worker-0").UID = "uid-of-another" }},
		{"a dead pod, and none in its place", func(s *snapshot.Snapshot) { pod(s, "hello-leader").Status.Phase = corev1.PodFailed }},
		{"a dead pod beside one that does not run yet", func(s *snapshot.Snapshot) {
			beside(s, pod(s, "hello-leader"), "hello-leader-0-0-dead", false).Status.Phase = corev1.PodFailed
			starting(pod(s, "hello-leader-0-0-a"), "ContainerCreating", "")
		}},
		{"two pods that run in one place", func(s *snapshot.Snapshot) {
			beside(s, pod(s, "hello-leader"), "hello-leader-0-0-twin", false)
		}},
		{"a queue label that LocalQueue default gave it", func(s *snapshot.Snapshot) {
			jobSet(s, "hello").Labels = map[string]string{queueLabel: "default"}
			s.LocalQueues = append(s.LocalQueues, kueuev1.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
		}},
		{"a sidecar that asks for a GPU", func(s *snapshot.Snapshot) {
			spec := &role(s, "hello", "worker").Template.Spec.Template.Spec
			spec.InitContainers = []corev1.Container{{Name: "watch", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}
		}},
		{"an image that is not there", func(s *snapshot.Snapshot) {
			starting(pod(s, "hello-leader"), "ImagePullBackOff", `Back-off pulling image "busybox:1.35.0"`)
		}},
		{"one pod gone", func(s *snapshot.Snapshot) { dropPods(s, "hello-worker-0-1") }},
		{"a pod that a quota on pods does not let be", func(s *snapshot.Snapshot) {
			dropPods(s, "hello-worker-0-1")
			s.Events = append(s.Events, snapshot.Event{At: 1, Type: "Warning", Reason: "FailedCreate", Object: "Job/hello-worker-0",
				UID: job(s, "hello-worker-0").UID, Message: `Error creating: pods "hello-worker-0-1-xxvq8" is forbidden: exceeded quota: pods`})
		}},
		{"a Job that the API server does not take", func(s *snapshot.Snapshot) {
			dropPods(s, "hello-worker")
			s.Events = append(s.Events, snapshot.Event{At: 1, Type: "Warning", Reason: "JobCreationFailed", Object: "JobSet/hello",
				UID: jobSet(s, "hello").UID, Message: `job "hello-worker-0" creation failed with error: jobs.batch "hello-worker-0" is forbidden: exceeded quota: jobs`})
		}},
		{"suspended by hand", func(s *snapshot.Snapshot) {
			jobSet(s, "hello").Spec.Suspend = ptr.To(true)
			dropPods(s, "hello-")
		}},
		{"no hello.yaml", func(s *snapshot.Snapshot) { delete(s.Files, "hello.yaml") }},
		{"hello.yaml says three workers", func(s *snapshot.Snapshot) { replace(s, "hello.yaml", "completions: 2", "completions: 3") }},
		{"hello.yaml is another JobSet", func(s *snapshot.Snapshot) { replace(s, "hello.yaml", "name: hello", "name: hallo") }},
		{"hello.yaml is for another namespace", func(s *snapshot.Snapshot) { replace(s, "hello.yaml", "namespace: ml", "namespace: default") }},
		{"hello.yaml is not YAML", func(s *snapshot.Snapshot) { s.Files["hello.yaml"] = "kind: JobSet\n\tmetadata: {" }},
	},
	Right: []variation{
		{"another image, command and container name", func(s *snapshot.Snapshot) {
			otherWords(s, "hello")
			otherWordsInFile(s, "hello.yaml")
		}},
		{"the worker before the leader", func(s *snapshot.Snapshot) {
			workerFirst(s, "hello")
			workerFirstInFile(s, "hello.yaml")
		}},
		{"requests for cpu and memory", func(s *snapshot.Snapshot) { requests(s, "hello") }},
		{"hello.yaml with CRLF, trailing blanks and no final newline", func(s *snapshot.Snapshot) { asOnWindows(s, "hello.yaml") }},
		{"hello.yaml without the namespace, after another document", func(s *snapshot.Snapshot) {
			replace(s, "hello.yaml", "  namespace: ml\n", "")
			s.Files["hello.yaml"] = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: own}\n---\n" + s.Files["hello.yaml"]
		}},
		{"a JobSet of the learner's own beside it", func(s *snapshot.Snapshot) {
			own := jobSet(s, "hello").DeepCopy()
			own.Name, own.UID = "hello-again", "uid-of-hello-again"
			s.JobSets = append(s.JobSets, *own)
		}},
		{"dead pods beside those that took their places", func(s *snapshot.Snapshot) {
			for i, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodUnknown, corev1.PodSucceeded} {
				dead := beside(s, pod(s, "hello-leader"), fmt.Sprintf("hello-leader-0-0-%d", i), false)
				dead.Status = corev1.PodStatus{Phase: phase, Reason: "Evicted"}
			}
		}},
		{"a container that was started again once, and has run since", func(s *snapshot.Snapshot) {
			againSince(s, pod(s, "hello-leader"), 1, time.Minute)
		}},
		{"two containers that were started again once each, and have run since", func(s *snapshot.Snapshot) {
			p := pod(s, "hello-leader")
			againSince(s, p, 1, time.Minute)
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, p.Status.ContainerStatuses[0])
		}},
		{"a sidecar that was started again once, and has run since", func(s *snapshot.Snapshot) {
			sidecarAgainSince(s, pod(s, "hello-leader"), 1, time.Minute)
		}},
		{"an init container that needed three tries", func(s *snapshot.Snapshot) {
			p := pod(s, "hello-leader")
			p.Spec.InitContainers = []corev1.Container{{Name: "wait"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "wait", RestartCount: 3}}
		}},
		{"NonIndexed Jobs", func(s *snapshot.Snapshot) { nonIndexed(s, "hello") }},
		{"a pod of an older try still Terminating", func(s *snapshot.Snapshot) {
			beside(s, pod(s, "hello-leader"), "hello-leader-0-0-older", true)
		}},
	},
})

// againSince makes a pod one whose container was started again, the last time so long ago.
func againSince(s *snapshot.Snapshot, p *corev1.Pod, times int32, ago time.Duration) {
	status := &p.Status.ContainerStatuses[0]
	status.RestartCount = times
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(s.Taken.Add(-ago))}}
}

// sidecarAgainSince gives a pod a sidecar that was started again.
func sidecarAgainSince(s *snapshot.Snapshot, p *corev1.Pod, times int32, ago time.Duration) {
	sidecar := *p.DeepCopy()
	againSince(s, &sidecar, times, ago)
	sidecar.Status.ContainerStatuses[0].Name = "log"
	p.Spec.InitContainers = []corev1.Container{{Name: "log", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	p.Status.InitContainerStatuses = sidecar.Status.ContainerStatuses
}

// nonIndexed makes the Jobs of a JobSet such as give their pods no completion index.
func nonIndexed(s *snapshot.Snapshot, jobSetName string) {
	for i := range jobSet(s, jobSetName).Spec.ReplicatedJobs {
		jobSet(s, jobSetName).Spec.ReplicatedJobs[i].Template.Spec.CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
	}
	for i := range s.Pods {
		if s.Pods[i].Labels[jobsetv1.JobSetNameKey] == jobSetName {
			delete(s.Pods[i].Labels, batchv1.JobCompletionIndexAnnotation)
		}
	}
}

// helloWorkers makes hello's worker Job one of n pods, in the cluster and the file.
func helloWorkers(s *snapshot.Snapshot, n int32) {
	workers(s, "hello", n)
	replace(s, "hello.yaml", "parallelism: 2", fmt.Sprintf("parallelism: %d", n))
	replace(s, "hello.yaml", "completions: 2", fmt.Sprintf("completions: %d", n))
}
