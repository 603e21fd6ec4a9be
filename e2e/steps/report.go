package steps

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var reportStep = lab.Step{
	Number: 8, Name: "report",
	Title: "어느 JobSet 이 어떤 상태인가",
	Task:  "/root/gsb-jobset/report.json 에 admitted, suspended, fragile_restarts 를 적습니다.",

	JobSets: []string{"fragile", "train", "big"},
	Files:   []string{"report.json"},
	Needs:   []int{4, 6, 7},

	Solve: func(ctx context.Context, me *lab.Learner) {
		// As a learner reads it, and not as the check does: kubectl get workloads
		// for what is admitted and whose it is, kubectl get jobsets for the rest.
		seen := me.Look(ctx)
		admitted, suspended, restarts := []string{}, []string{}, int32(0)
		for _, workload := range seen.Workloads {
			owner := metav1.GetControllerOf(&workload)
			if meta.IsStatusConditionTrue(workload.Status.Conditions, "Admitted") && owner != nil && owner.Kind == "JobSet" {
				admitted = append(admitted, owner.Name)
			}
		}
		for _, jobSet := range seen.JobSets {
			if jobSet.Spec.Suspend != nil && *jobSet.Spec.Suspend {
				suspended = append(suspended, jobSet.Name)
			}
			if jobSet.Name == "fragile" {
				restarts = jobSet.Status.Restarts
			}
		}
		me.WriteJSON("report.json", map[string]any{"admitted": admitted, "suspended": suspended, "fragile_restarts": restarts})
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		fragile := s.JobSet("fragile")
		Expect(c, fragile, HaveRestarted())
		Expect(c, s.File("report.json"), Report(s.Admitted(), s.Suspended(), fragile.Restarts()))
	},
}
