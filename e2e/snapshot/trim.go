package snapshot

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/fixtures"
)

// KubectlApplied is where kubectl keeps the whole manifest a second time.
const KubectlApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Trim takes from the objects what no judgement asks for and what makes a
// written snapshot hard to read.
func (s *Snapshot) Trim() {
	for i := range s.JobSets {
		trimMeta(&s.JobSets[i].ObjectMeta)
	}
	for i := range s.Jobs {
		trimJob(&s.Jobs[i])
	}
	for i := range s.Pods {
		trimPod(&s.Pods[i])
	}
	for i := range s.Workloads {
		trimMeta(&s.Workloads[i].ObjectMeta)
	}
	for i := range s.Services {
		trimMeta(&s.Services[i].ObjectMeta)
	}
	for i := range s.LocalQueues {
		trimMeta(&s.LocalQueues[i].ObjectMeta)
	}
	if s.ClusterQueue != nil {
		trimMeta(&s.ClusterQueue.ObjectMeta)
	}
}

// trimJob leaves out the pod template, which the JobSet has too, and the
// annotations, which repeat the labels.
func trimJob(job *batchv1.Job) {
	trimMeta(&job.ObjectMeta)
	job.Annotations = nil
	job.Spec.Template = corev1.PodTemplateSpec{}
}

func trimPod(pod *corev1.Pod) {
	trimMeta(&pod.ObjectMeta)
	pod.Annotations = nil
	pod.Spec.Volumes, pod.Spec.Tolerations = nil, nil
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].VolumeMounts, pod.Spec.Containers[i].Env = nil, nil
	}
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].VolumeMounts, pod.Status.ContainerStatuses[i].User = nil, nil
	}
}

func trimMeta(meta *metav1.ObjectMeta) {
	meta.ManagedFields = nil
	for _, annotation := range []string{KubectlApplied, fixtures.RunAnnotation, fixtures.AppliedAnnotation} {
		delete(meta.Annotations, annotation)
	}
}
