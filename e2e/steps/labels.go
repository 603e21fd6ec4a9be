package steps

import (
	"context"
	"strings"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The four that the lab text names. job-index is the Job's place among the
// Jobs of its role and not the pod's in the Job: it is 0 for both workers.
var coordinates = []string{
	"jobset.sigs.k8s.io/jobset-name",
	"jobset.sigs.k8s.io/replicatedjob-name",
	"jobset.sigs.k8s.io/job-index",
	"batch.kubernetes.io/job-completion-index",
}

var labelsStep = lab.Step{
	Number: 3, Name: "labels",
	Title: "파드에 붙은 JobSet 의 좌표",
	Task:  "완료 인덱스 1 인 워커의 JobSet 라벨 넷을 /root/gsb-jobset/labels.txt 에 키=값 으로 적습니다.",

	JobSets: []string{"hello"},
	Files:   []string{"labels.txt"},
	Needs:   []int{1},

	Solve: func(ctx context.Context, me *lab.Learner) {
		worker := me.Look(ctx).JobSet("hello").PodAt("worker", 1)
		var lines []string
		for _, key := range coordinates {
			lines = append(lines, key+"="+worker.Label(key))
		}
		me.Write("labels.txt", "%s\n", strings.Join(lines, "\n"))
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		worker := s.JobSet("hello").PodAt("worker", 1)
		Expect(c, s.File("labels.txt"), HoldLabelsOf(worker, coordinates...))
	},
}
