package snapshot

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// LeaveOut takes JobSets and what belongs to them out of a snapshot that has no
// history yet.
func (s *Snapshot) LeaveOut(jobSets []string) {
	if len(jobSets) == 0 {
		return
	}
	others := func(kind string, object client.Object) bool { return slices.Contains(jobSets, jobSetOf(kind, object)) }
	s.JobSets = slices.DeleteFunc(s.JobSets, func(o jobsetv1.JobSet) bool { return others("JobSet", &o) })
	s.Jobs = slices.DeleteFunc(s.Jobs, func(o batchv1.Job) bool { return others("Job", &o) })
	s.Pods = slices.DeleteFunc(s.Pods, func(o corev1.Pod) bool { return others("Pod", &o) })
	s.Workloads = slices.DeleteFunc(s.Workloads, func(o kueuev1.Workload) bool { return others("Workload", &o) })
	s.Services = slices.DeleteFunc(s.Services, func(o corev1.Service) bool { return others("Service", &o) })
}
