package snapshot

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Recording returns a copy of the snapshot without what the API server, the
// scheduler, kubelet and the controllers add and neither a judgement nor a failure report
// asks for: what is left can be read, and be kept as test data.
func (s *Snapshot) Recording() (*Snapshot, error) {
	content, err := s.YAML()
	if err != nil {
		return nil, err
	}
	r, err := ParseSnapshot(content)
	if err != nil {
		return nil, err
	}
	for i := range r.JobSets {
		strip(&r.JobSets[i].ObjectMeta)
		r.JobSets[i].Status.ReplicatedJobsStatus = nil
	}
	for i := range r.Jobs {
		stripJob(&r.Jobs[i])
	}
	for i := range r.Pods {
		stripPod(&r.Pods[i])
	}
	for i := range r.Workloads {
		stripWorkload(&r.Workloads[i])
	}
	for i := range r.Services {
		strip(&r.Services[i].ObjectMeta)
		r.Services[i].Spec = corev1.ServiceSpec{ClusterIP: r.Services[i].Spec.ClusterIP}
	}
	for i := range r.LocalQueues {
		strip(&r.LocalQueues[i].ObjectMeta)
		r.LocalQueues[i].Status = kueuev1.LocalQueueStatus{Conditions: r.LocalQueues[i].Status.Conditions}
	}
	if r.ClusterQueue != nil {
		strip(&r.ClusterQueue.ObjectMeta)
		r.ClusterQueue.Spec.Preemption, r.ClusterQueue.Spec.FlavorFungibility = nil, nil
	}
	r.Nodes = nil
	// What kubelet does with a pod that comes up, the pod shows itself.
	r.Events = slices.DeleteFunc(r.Events, func(event Event) bool {
		return event.Type == corev1.EventTypeNormal && strings.HasPrefix(event.Object, "Pod/")
	})
	return r, nil
}

// labelsOfNoUse are those that the Job and JobSet controllers set beside the ones
// that the lab text names.
var labelsOfNoUse = []string{
	"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name",
	"jobset.sigs.k8s.io/jobset-uid", "jobset.sigs.k8s.io/job-key", "jobset.sigs.k8s.io/job-global-index",
	"jobset.sigs.k8s.io/global-replicas", "jobset.sigs.k8s.io/replicatedjob-replicas", "jobset.sigs.k8s.io/priority",
	"jobset.sigs.k8s.io/group-name", "jobset.sigs.k8s.io/group-replicas", "jobset.sigs.k8s.io/job-group-index",
	"kueue.x-k8s.io/job-uid",
}

func strip(meta *metav1.ObjectMeta) {
	meta.CreationTimestamp, meta.Generation, meta.ResourceVersion = metav1.Time{}, 0, ""
	meta.GenerateName, meta.Finalizers, meta.ManagedFields = "", nil, nil
	for _, label := range labelsOfNoUse {
		delete(meta.Labels, label)
	}
	for i := range meta.OwnerReferences {
		meta.OwnerReferences[i].BlockOwnerDeletion = nil
	}
}

func stripJob(job *batchv1.Job) {
	strip(&job.ObjectMeta)
	spec, status := job.Spec, job.Status
	job.Spec = batchv1.JobSpec{Parallelism: spec.Parallelism, Completions: spec.Completions, BackoffLimit: spec.BackoffLimit, Suspend: spec.Suspend}
	job.Status = batchv1.JobStatus{Active: status.Active, Ready: status.Ready, Succeeded: status.Succeeded, Failed: status.Failed,
		Conditions: status.Conditions}
	for i := range job.Status.Conditions {
		job.Status.Conditions[i].LastProbeTime = metav1.Time{}
	}
}

func stripPod(pod *corev1.Pod) {
	strip(&pod.ObjectMeta)
	spec, status := pod.Spec, pod.Status
	pod.Spec = corev1.PodSpec{NodeName: spec.NodeName, RestartPolicy: spec.RestartPolicy}
	for _, containers := range []struct{ from, to *[]corev1.Container }{{&spec.InitContainers, &pod.Spec.InitContainers}, {&spec.Containers, &pod.Spec.Containers}} {
		for _, c := range *containers.from {
			*containers.to = append(*containers.to, corev1.Container{Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args, Resources: c.Resources})
		}
	}
	pod.Status = corev1.PodStatus{Phase: status.Phase, Reason: status.Reason, Message: status.Message, PodIP: status.PodIP, PodIPs: status.PodIPs,
		InitContainerStatuses: status.InitContainerStatuses, ContainerStatuses: status.ContainerStatuses}
	for _, condition := range status.Conditions {
		if condition.Type == corev1.PodReady || condition.Type == corev1.PodScheduled {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition.Type, Status: condition.Status,
				Reason: condition.Reason, Message: condition.Message})
		}
	}
	for _, containers := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range containers {
			c := &containers[i]
			c.ContainerID, c.ImageID, c.Image, c.Resources = "", "", "", nil
			for _, state := range []*corev1.ContainerState{&c.State, &c.LastTerminationState} {
				if state.Terminated != nil {
					state.Terminated.ContainerID = ""
				}
			}
		}
	}
}

// stripWorkload leaves out the pod templates, which the JobSet has too.
func stripWorkload(workload *kueuev1.Workload) {
	strip(&workload.ObjectMeta)
	for i := range workload.Spec.PodSets {
		podSet := workload.Spec.PodSets[i]
		workload.Spec.PodSets[i] = kueuev1.PodSet{Name: podSet.Name, Count: podSet.Count}
	}
	workload.Status = kueuev1.WorkloadStatus{Conditions: workload.Status.Conditions}
}
