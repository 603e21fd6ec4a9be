package grade

import (
	"slices"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// threeSteps are one of a JobSet, one of a queued JobSet, and one that nobody can fail.
var threeSteps = []lab.Step{
	{Number: 1, Name: "hello", JobSets: []string{"hello"}, Check: exists("hello")},
	{Number: 6, Name: "train", JobSets: []string{"train"}, Check: exists("train")},
	{Number: 7, Name: "big", JobSets: []string{"big"}, Check: func(*matchers.Check, *snapshot.Snapshot) {}},
}

func exists(name string) func(*matchers.Check, *snapshot.Snapshot) {
	return func(c *matchers.Check, s *snapshot.Snapshot) {
		matchers.Expect(c, s.JobSet(name), matchers.Matcher[snapshot.JobSet](func(snapshot.JobSet) *matchers.Mismatch {
			return matchers.NewMismatch(matchers.JobSetNotFound, snapshot.TextOf("%s 가 없습니다.", "There is no %s.", name))
		}))
	}
}

// A queue that is missing is the lab's trouble, and what needs none is graded.
func TestALabWithoutItsQueueIsGraded(t *testing.T) {
	t.Parallel()
	for without, code := range map[string]snapshot.Code{"localqueues": preflight.LocalQueueNotFound, "clusterqueues": preflight.ClusterQueueNotFound} {
		api := labtest.NewFakeAPI(t)
		api.Without = without
		grading, err := Check(t.Context(), connectToRead(api, t), threeSteps)
		if err != nil || len(grading.Steps) != 3 {
			t.Errorf("without %s: %v, %d steps", without, err, len(grading.Steps))
			continue
		}
		hello, train, big := grading.Steps[0], grading.Steps[1], grading.Steps[2]
		if hello.Whose != OfLearner || train.Whose != OfLab || train.Cause != code || !big.Passed {
			t.Errorf("without %s: %+v", without, grading.Steps)
		}
		if len(grading.Notes) != 1 || !strings.Contains(grading.Notes[0].EN, "nothing that is queued is let in") {
			t.Errorf("without %s: %v", without, grading.Notes)
		}
	}
}

// A right that is missing is named, and takes only the steps that need it: a step that sees
// nothing of what it forbids would be passed by it.
func TestWhatMayNotBeReadIsNamedAndTheRestGraded(t *testing.T) {
	t.Parallel()
	for _, reader := range []struct {
		forbids  string
		ungraded []int
	}{
		{"events", nil}, {"services", nil}, {"nodes", nil}, {"deployments", nil},
		{"workloads", []int{6, 7}}, {"localqueues", []int{6, 7}}, {"clusterqueues", []int{6, 7}},
	} {
		api := labtest.NewFakeAPI(t)
		api.Forbids = reader.forbids
		grading, err := Check(t.Context(), connectToRead(api, t), threeSteps)
		if err != nil {
			t.Errorf("without the right to %s: %v", reader.forbids, err)
			continue
		}
		var ungraded []int
		for _, grade := range grading.Steps {
			if grade.Code == preflight.FactUnreadable {
				ungraded = append(ungraded, grade.Step)
			}
		}
		if !slices.Equal(ungraded, reader.ungraded) || grading.Passed {
			t.Errorf("without the right to %s these are not graded: %v", reader.forbids, ungraded)
		}
		if len(grading.Notes) != 1 || !strings.Contains(grading.Notes[0].EN, reader.forbids) || !strings.Contains(grading.Notes[0].EN, "reader.yaml") {
			t.Errorf("without the right to %s: %v", reader.forbids, grading.Notes)
		}
	}
}
