package blockers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// blockedWithoutJobs finds a JobSet of which the controller has made nothing, or not
// all because the API server refuses a Job. A suspended JobSet has its Jobs too, and one
// that has ended may have none.
func blockedWithoutJobs(j snapshot.JobSet) Blocker {
	if ended(j) {
		return Blocker{}
	}
	if len(j.Jobs()) > 0 {
		return blockedWithSomeJobs(j)
	}
	says := fmt.Sprintf("the JobSet controller has made no Job of JobSet %s", j.Name)
	if warning := lastWarning(j, ""); warning != "" {
		says += ": " + warning
	}
	return Blocker{Code: BlockedNoJobs, Message: says}
}

// blockedWithSomeJobs finds a Job that cannot be made once the pods of all others run:
// until then something is still on its way.
func blockedWithSomeJobs(j snapshot.JobSet) Blocker {
	wanted := 0
	for _, replicated := range j.Live.Spec.ReplicatedJobs {
		wanted += int(replicated.Replicas)
	}
	warning := lastWarning(j, "JobCreationFailed")
	if len(j.Jobs()) >= wanted || warning == "" || len(onTheWay(j)) > 0 {
		return Blocker{}
	}
	return Blocker{Code: BlockedNoJobs, Message: fmt.Sprintf("the JobSet controller has made %d of the %d Jobs of JobSet %s: %s", len(j.Jobs()), wanted, j.Name, warning)}
}

// lastWarning is the message of the JobSet's last warning, of this reason if one is given.
func lastWarning(j snapshot.JobSet, reason string) string {
	for _, event := range slices.Backward(j.Snapshot.Events) {
		if event.UID == j.Live.UID && event.Type == corev1.EventTypeWarning && (reason == "" || event.Reason == reason) {
			return strings.TrimSuffix(event.Message, ".")
		}
	}
	return ""
}
