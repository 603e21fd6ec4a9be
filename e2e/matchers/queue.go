package matchers

import (
	"fmt"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HaveOneWorkload judges that the JobSet owns exactly one Workload.
func HaveOneWorkload() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		owned := j.Workloads()
		if len(owned) == 1 {
			return nil
		}
		if len(owned) == 0 {
			return missingWorkload(j.Workload())
		}
		var names []string
		for _, workload := range owned {
			names = append(names, workload.Name)
		}
		return NewMismatch(SeveralWorkloads, snapshot.TextOf("JobSet %s 의 Workload 가 %d개인데, Workload 하나로 입장해야 합니다.",
			"JobSet %s has %d Workloads; it should be admitted as one.", j.Name, len(owned))).
			Row("Workloads owned by "+j.Name, 1, strings.Join(names, ", "))
	}
}

// HaveNoWorkload judges that the JobSet owns no Workload and that none it owned
// was ever seen.
func HaveNoWorkload() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		for _, seen := range j.Snapshot.Seen.Ever("Workload", j.Name) {
			return NewInternalMismatch(WorkloadUnexpected, "JobSet %s was not expected to have a Workload, and it has had %s.", j.Name, seen.Name).
				Row("Workloads owned by "+j.Name, "none, ever", seen.Name)
		}
		return nil
	}
}

// HavePodSet judges that the Workload has a podSet of this name and count.
func HavePodSet(name string, count int32) Matcher[snapshot.Workload] {
	return func(w snapshot.Workload) *Mismatch {
		if r := missingWorkload(w); r != nil {
			return r
		}
		var found []string
		for _, podSet := range w.Live.Spec.PodSets {
			if string(podSet.Name) == name && podSet.Count == count {
				return nil
			}
			found = append(found, fmt.Sprintf("%s × %d", podSet.Name, podSet.Count))
		}
		return NewMismatch(PodSetWrong, snapshot.TextOf("JobSet %s 의 Workload 에 든 podSets 는 %s 인데, %s 역할의 podSet 은 파드 %d개여야 합니다.",
			"JobSet %s has a Workload whose podSets are %s; that of role %s should be of %d.", w.Of.Name, text.List(found), name, count)).
			Row("podSets", fmt.Sprintf("%s × %d", name, count), text.List(found))
	}
}

// HavePodSets judges how many podSets the Workload has.
func HavePodSets(count int) Matcher[snapshot.Workload] {
	return func(w snapshot.Workload) *Mismatch {
		if r := missingWorkload(w); r != nil {
			return r
		}
		if len(w.Live.Spec.PodSets) == count {
			return nil
		}
		return NewMismatch(PodSetCountWrong, snapshot.TextOf("JobSet %s 의 Workload 에 든 podSets 가 %d개인데, 역할마다 하나씩이어야 합니다.",
			"JobSet %s has a Workload whose podSets number %d; there should be one a role.", w.Of.Name, len(w.Live.Spec.PodSets))).Row("podSets", count, len(w.Live.Spec.PodSets))
	}
}
