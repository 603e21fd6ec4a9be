package snapshot

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// A Pod is the present pod at one place of a JobSet: the pod of a role's first
// Job with this completion index, whether it exists or not.
type Pod struct {
	Of    JobSet
	Role  string
	Index int
	Live  *corev1.Pod
}

// PodAt returns the present pod of a role and a completion index.
func (j JobSet) PodAt(role string, index int) Pod {
	return Pod{Of: j, Role: role, Index: index, Live: j.pod(role, fmt.Sprint(index))}
}

// Label is the value of one of the pod's labels, empty if there is none.
func (p Pod) Label(key string) string {
	if p.Live == nil {
		return ""
	}
	return p.Live.Labels[key]
}

// FullName is the DNS name that JobSet gives the pod: the pod's hostname below
// the JobSet's headless Service, in a cluster of the usual domain.
func (p Pod) FullName() string {
	return fmt.Sprintf("%s-%s-0-%d.%s.%s.svc.cluster.local", p.Of.Name, p.Role, p.Index, p.Of.Name, p.Of.Snapshot.Namespace)
}

// Ranks lists every place in the JobSet, by its spec: that of a NonIndexed Job once for
// each of its pods.
func (j JobSet) Ranks() []string {
	var ranks []string
	for _, role := range j.Live.Spec.ReplicatedJobs {
		pods := min(ptr.Deref(role.Template.Spec.Parallelism, 1), ptr.Deref(role.Template.Spec.Completions, 1<<30))
		for job := range role.Replicas {
			for index := range pods {
				rank := fmt.Sprintf("%s-%d", role.Name, job)
				if ptr.Deref(role.Template.Spec.CompletionMode, batchv1.IndexedCompletion) == batchv1.IndexedCompletion {
					rank += fmt.Sprintf("-%d", index)
				}
				ranks = append(ranks, rank)
			}
		}
	}
	return ranks
}
