package lab

import (
	"fmt"
	"strings"
)

// HaveOneWorkload judges that the JobSet owns exactly one Workload.
func HaveOneWorkload() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		owned := j.workloads()
		if len(owned) == 1 {
			return nil
		}
		if len(owned) == 0 {
			return j.Workload().absent()
		}
		var names []string
		for _, workload := range owned {
			names = append(names, workload.Name)
		}
		return refuse(SeveralWorkloads, tell("JobSet %s 의 Workload 가 %d개인데, Workload 하나로 입장해야 합니다.",
			"JobSet %s has %d Workloads; it should be admitted as one.", j.Name, len(owned))).
			with("Workloads owned by "+j.Name, 1, strings.Join(names, ", "))
	}
}

// HaveNoWorkload judges that the JobSet owns no Workload and that none it owned
// was ever seen.
func HaveNoWorkload() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		for _, seen := range j.snapshot.Seen.Ever("Workload", j.Name) {
			return unlike(WorkloadUnexpected, "JobSet %s was not expected to have a Workload, and it has had %s.", j.Name, seen.Name).
				with("Workloads owned by "+j.Name, "none, ever", seen.Name)
		}
		return nil
	}
}

// HavePodSet judges that the Workload has a podSet of this name and count.
func HavePodSet(name string, count int32) Matcher[Workload] {
	return func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		var found []string
		for _, podSet := range w.live.Spec.PodSets {
			if string(podSet.Name) == name && podSet.Count == count {
				return nil
			}
			found = append(found, fmt.Sprintf("%s × %d", podSet.Name, podSet.Count))
		}
		return refuse(PodSetWrong, tell("JobSet %s 의 Workload 에 든 podSets 는 %s 인데, %s 역할의 podSet 은 파드 %d개여야 합니다.",
			"JobSet %s has a Workload whose podSets are %s; that of role %s should be of %d.", w.of.Name, list(found), name, count)).
			with("podSets", fmt.Sprintf("%s × %d", name, count), list(found))
	}
}

// HavePodSets judges how many podSets the Workload has.
func HavePodSets(count int) Matcher[Workload] {
	return func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		if len(w.live.Spec.PodSets) == count {
			return nil
		}
		return refuse(PodSetCountWrong, tell("JobSet %s 의 Workload 에 든 podSets 가 %d개인데, 역할마다 하나씩이어야 합니다.",
			"JobSet %s has a Workload whose podSets number %d; there should be one a role.", w.of.Name, len(w.live.Spec.PodSets))).with("podSets", count, len(w.live.Spec.PodSets))
	}
}
