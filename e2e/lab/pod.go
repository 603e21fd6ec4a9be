package lab

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// A Pod is the present pod at one place of a JobSet: the pod of a role's first
// Job with this completion index, whether it exists or not.
type Pod struct {
	of    JobSet
	role  string
	index int
	live  *corev1.Pod
}

// PodAt returns the present pod of a role and a completion index.
func (j JobSet) PodAt(role string, index int) Pod {
	return Pod{of: j, role: role, index: index, live: j.pod(role, fmt.Sprint(index))}
}

// Label is the value of one of the pod's labels, empty if there is none.
func (p Pod) Label(key string) string {
	if p.live == nil {
		return ""
	}
	return p.live.Labels[key]
}

// fullName is the DNS name that JobSet gives the pod: the pod's hostname below
// the JobSet's headless Service, in a cluster of the usual domain.
func (p Pod) fullName() string {
	return fmt.Sprintf("%s-%s-0-%d.%s.%s.svc.cluster.local", p.of.Name, p.role, p.index, p.of.Name, p.of.snapshot.Namespace)
}

func (p Pod) absent() *Refusal {
	if r := p.of.absent(); r != nil {
		return r
	}
	if p.live != nil {
		return nil
	}
	return refuse(PodNotFound, tell("JobSet %s 에 완료 인덱스가 %[3]d 인 %[2]s 파드가 없습니다.", "JobSet %s has no %s pod of completion index %d.",
		p.of.Name, p.role, p.index)).
		with("pods", fmt.Sprintf("%s-0-%d", p.role, p.index), "not there")
}
