package steps

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Whole stories, as a lab author meets them.
func TestEachMessageIsAsRecorded(t *testing.T) {
	t.Parallel()
	for _, told := range []struct {
		file   string
		step   int
		change func(s *snapshot.Snapshot)
	}{
		{"failure-old-attempt.txt", 4, func(s *snapshot.Snapshot) { pod(s, "fragile-leader").Labels[attempt] = "0" }},
		{"failure-image-missing.txt", 6, func(s *snapshot.Snapshot) {
			starting(pod(s, "train-worker-0-1"), "ImagePullBackOff", `Back-off pulling image "busybox:1.35.0"`)
		}},
		{"failure-queue-missing.txt", 7, func(s *snapshot.Snapshot) {
			workload(s, "big").Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "False",
				Reason: kueuev1.WorkloadInadmissible, Message: "LocalQueue lq doesn't exist"}}
		}},
	} {
		t.Run(told.file, func(t *testing.T) {
			snapshot := solved(t)
			told.change(snapshot)
			step := Course.Steps[told.step-1]
			failed := step.FailureReport(failure(step, snapshot), snapshot)
			failed.Evidence = ".lab/evidence/here"
			golden(t, told.file, failed.String()+"\n")
		})
	}
}

// failure is what a run makes of a step that is refused on a snapshot after a minute.
func failure(step lab.Step, snapshot *snapshot.Snapshot) report.Failure {
	refusals := step.Judge(snapshot).Mismatches
	failure := report.Failure{Stage: "is not passed", Mismatch: *refusals[0], Others: refusals[1:], Waited: 60}
	blocker := blockers.Final(snapshot, step.JobSets)
	if blocker.Code == "" {
		blocker = blockers.Find(snapshot, step.JobSets)
	}
	if blocker.Code != "" {
		failure.Blocker = &blocker
	}
	return failure
}
