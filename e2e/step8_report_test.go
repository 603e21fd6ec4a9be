package e2e

import (
	"context"
	"encoding/json"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/lab"
)

var _ = lab.Step{
	Number: 8, Name: "report",
	Title: "어느 JobSet 이 어떤 상태인가",
	Task:  "/root/gsb-jobset/report.json 에 admitted, suspended, fragile_restarts 를 적습니다.",

	JobSets: []string{"fragile", "train", "big"},
	Files:   []string{"report.json"},
	Needs:   []int{4, 6, 7},

	Solve: func(ctx context.Context, me *lab.Learner) {
		seen := me.Look(ctx)
		report := struct {
			Admitted        []string `json:"admitted"`
			Suspended       []string `json:"suspended"`
			FragileRestarts int      `json:"fragile_restarts"`
		}{Admitted: []string{}, Suspended: []string{}}
		// As a learner reads it: kubectl get workloads for what is admitted and
		// whose it is, kubectl get jobsets for the other two columns.
		for _, workload := range seen.Workloads {
			for _, condition := range workload.Status.Conditions {
				if condition.Type == "Admitted" && condition.Status == "True" && workload.OwnerReferences[0].Kind == "JobSet" {
					report.Admitted = append(report.Admitted, workload.OwnerReferences[0].Name)
				}
			}
		}
		for _, jobSet := range seen.JobSets {
			if jobSet.Spec.Suspend != nil && *jobSet.Spec.Suspend {
				report.Suspended = append(report.Suspended, jobSet.Name)
			}
			if jobSet.Name == "fragile" {
				report.FragileRestarts = int(jobSet.Status.Restarts)
			}
		}
		content, err := json.MarshalIndent(report, "", "  ")
		Expect(err).NotTo(HaveOccurred())
		me.Write("report.json", "%s\n", content)
	},
	Check: func(g Gomega, s *lab.Snapshot) {
		fragile := s.JobSet("fragile")
		g.Expect(fragile).To(HaveRestarted())
		g.Expect(s.File("report.json")).To(Report(s.Admitted(), s.Suspended(), fragile.Restarts()))
	},
}.Specs()
