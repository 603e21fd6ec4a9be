package blockers

import (
	"fmt"
	"slices"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Waiting reasons that do not pass by themselves: the kubelet does not even try.
var stuckWaiting = map[string]bool{"ErrImageNeverPull": true, "InvalidImageName": true}

// terminalConditions are the conditions of a JobSet that nothing comes after.
var terminalConditions = []jobsetv1.JobSetConditionType{jobsetv1.JobSetFailed, jobsetv1.JobSetCompleted}

func ended(j snapshot.JobSet) bool { return slices.ContainsFunc(terminalConditions, j.IsNow) }

// Final finds why waiting on for these JobSets is in vain; its Code is empty if
// it is not. It is only asked while a matcher does not hold.
func Final(s *snapshot.Snapshot, jobSets []string) Blocker {
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.Live == nil {
			continue
		}
		for _, end := range terminalConditions {
			if j.IsNow(end) {
				return Blocker{Code: EndedJobSet, JobSet: name, Message: fmt.Sprintf("JobSet %s has ended %s (%s), and one that has ended does not start again", name, end,
					text.ReasonAndMessage(j.Condition(end).Reason, j.Condition(end).Message))}
			}
		}
		pods := j.Pods().Items
		for i := range pods {
			if reason, message := snapshot.WaitingReason(&pods[i]); stuckWaiting[reason] {
				return Blocker{Code: EndedPod, JobSet: name, Message: fmt.Sprintf("pod %s cannot start: %s", pods[i].Name, text.ReasonAndMessage(reason, message))}
			}
		}
		for _, workload := range j.Workloads() {
			owned := snapshot.Workload{Of: j, Live: &workload}
			if owned.IsNow(kueuev1.WorkloadFinished) {
				return Blocker{Code: EndedWorkload, JobSet: name, Message: fmt.Sprintf("Workload %s is Finished (%s), and one that is finished is not admitted again", workload.Name,
					owned.ConditionText(kueuev1.WorkloadFinished))}
			}
		}
	}
	return Blocker{}
}
