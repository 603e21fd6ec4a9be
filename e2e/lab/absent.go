package lab

import (
	"maps"
	"slices"
	"strings"
)

// absent refuses a JobSet that is not there, and says where one of its name is.
func (j JobSet) absent() *Refusal {
	if j.live != nil {
		return nil
	}
	var present []string
	for _, other := range j.snapshot.JobSets {
		present = append(present, other.Name)
	}
	for _, other := range j.snapshot.Elsewhere {
		if namespace, name, _ := strings.Cut(other, "/"); name == j.Name {
			return refuse(JobSetInOtherNamespace, tell("이름이 %s 인 JobSet 이 %s 네임스페이스에 있는데, %s 네임스페이스에 있어야 합니다.",
				"JobSet %s is in namespace %s; the lab asks for it in %s.", j.Name, namespace, j.snapshot.Namespace)).
				with("namespace", j.snapshot.Namespace, namespace)
		}
	}
	return refuse(JobSetNotFound, tell("이름이 %s 인 JobSet 이 %s 네임스페이스에 없습니다.", "There is no JobSet %s in namespace %s.", j.Name, j.snapshot.Namespace)).
		with("JobSets in "+j.snapshot.Namespace, j.Name, list(present))
}

func (r ReplicatedJob) absent() *Refusal {
	if refusal := r.of.absent(); refusal != nil {
		return refusal
	}
	if r.fields != nil {
		return nil
	}
	roles := map[string]bool{}
	for _, role := range r.of.live.Spec.ReplicatedJobs {
		roles[role.Name] = true
	}
	return refuse(RoleNotFound, tell("JobSet %s 에 이름이 %s 인 역할이 없습니다.", "JobSet %s has no role named %s.", r.of.Name, r.Name)).
		with("replicatedJobs", r.Name, list(slices.Sorted(maps.Keys(roles))))
}
