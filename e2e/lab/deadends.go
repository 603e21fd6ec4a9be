package lab

import (
	"fmt"
	"slices"

	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Waiting reasons that do not pass by themselves. A failed pull does where a
// registry comes back, but not within any wait of this suite: the kubelet backs
// off for longer.
var stuckWaiting = map[string]bool{
	"ErrImageNeverPull":          true,
	"ImagePullBackOff":           true,
	"InvalidImageName":           true,
	"ImageInspectError":          true,
	"CreateContainerConfigError": true,
}

// ends are the conditions of a JobSet that nothing comes after.
var ends = []jobsetv1.JobSetConditionType{jobsetv1.JobSetFailed, jobsetv1.JobSetCompleted}

func (j JobSet) ended() bool { return slices.ContainsFunc(ends, j.isNow) }

// DeadEnd finds why waiting on for these JobSets is in vain; its Code is empty if
// it is not. It is only asked while a matcher does not hold.
func (s *Snapshot) DeadEnd(jobSets []string) Blocker {
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.live == nil {
			continue
		}
		for _, end := range ends {
			if j.isNow(end) {
				return Blocker{Code: EndedJobSet, JobSet: name, Message: fmt.Sprintf("JobSet %s has ended %s (%s), and one that has ended does not start again", name, end,
					said(j.condition(end).Reason, j.condition(end).Message))}
			}
		}
		pods := j.Pods().items
		for i := range pods {
			if reason, message := waitingReason(&pods[i]); stuckWaiting[reason] {
				return Blocker{Code: EndedPod, JobSet: name, Message: fmt.Sprintf("pod %s cannot start: %s", pods[i].Name, said(reason, message))}
			}
		}
		for _, workload := range j.workloads() {
			owned := Workload{of: j, live: &workload}
			if owned.isNow(kueuev1.WorkloadFinished) {
				return Blocker{Code: EndedWorkload, JobSet: name, Message: fmt.Sprintf("Workload %s is Finished (%s), and one that is finished is not admitted again", workload.Name,
					owned.told(kueuev1.WorkloadFinished))}
			}
		}
	}
	return Blocker{}
}
