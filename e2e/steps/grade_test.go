package steps

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/grade"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// These tests judge what a learner is told where a check sees less than a run. The
// sentences for every wrong variation are in testdata/messages.

// wellSaid fails if a learner would be told nothing, or half of it.
func wellSaid(t *testing.T, of string, words snapshot.Text) {
	t.Helper()
	for language, sentence := range map[string]string{"Korean": words.KO, "English": words.EN} {
		if !strings.HasSuffix(sentence, ".") || strings.Contains(sentence, "%!") || strings.Contains(sentence, "\n") {
			t.Errorf("%s: the %s sentence is %q", of, language, sentence)
		}
	}
}

// listNotes adds what a check says that it could not see.
func listNotes(t *testing.T, unseen *strings.Builder, of string, notes []snapshot.Text) {
	t.Helper()
	if len(notes) == 0 {
		return
	}
	fmt.Fprintf(unseen, "## %s\n", of)
	for _, note := range notes {
		wellSaid(t, of, note)
		fmt.Fprintf(unseen, "%s\n%s\n", note.KO, note.EN)
	}
	unseen.WriteString("\n")
}

// What a check does not see because it looks once is written down, so that
// nothing else slips through it; and it must not refuse what is right.
func TestCheckNeedsNoHistory(t *testing.T) {
	t.Parallel()
	var unseen strings.Builder
	for _, step := range Course.Steps {
		right := grade.GradeStep(step, labtest.AsChecked(solved(t)))
		if !right.Passed {
			t.Errorf("%s: the recorded lab is refused as make check sees it, which looks once and has no history (Snapshot.ReadOnly): %s", step, right.EN)
		}
		listNotes(t, &unseen, fmt.Sprintf("step %d: the recorded lab", step.Number), right.Notes)
		for _, wrong := range Varied[step.Number].Wrong {
			snapshot := solved(t)
			wrong.change(snapshot)
			grade := grade.GradeStep(step, labtest.AsChecked(snapshot))
			if !grade.Passed {
				continue
			}
			if len(grade.Notes) == 0 {
				fmt.Fprintf(&unseen, "## step %d: %s\n\n", step.Number, wrong.name)
			}
			listNotes(t, &unseen, fmt.Sprintf("step %d: %s", step.Number, wrong.name), grade.Notes)
		}
		for _, right := range Varied[step.Number].Right {
			snapshot := solved(t)
			right.change(snapshot)
			if grade := grade.GradeStep(step, labtest.AsChecked(snapshot)); !grade.Passed {
				t.Errorf("%s: %s: refused as make check sees it, which looks once and has no history (Snapshot.ReadOnly): %s", step, right.name, grade.EN)
			}
		}
	}
	goldenFile(t, "check/unseen.txt", unseen.String())
}

func TestCheckRefusesEveryMistake(t *testing.T) {
	t.Parallel()
	for _, mistake := range Course.Mistakes {
		snapshot := recorded(t, "mistakes/"+mistake.Name+".yaml")
		grade := grade.GradeStep(Course.Steps[mistake.Step-1], labtest.AsChecked(snapshot))
		if grade.Passed {
			t.Errorf("%s: step %d is passed with it", mistake.Name, mistake.Step)
		}
		// A run and a check say the same of it.
		if run := Course.Steps[mistake.Step-1].Judge(recorded(t, "mistakes/"+mistake.Name+".yaml")).Mismatches; run[0].Code != grade.Code {
			t.Errorf("%s: a run says %s, a check %s", mistake.Name, run[0].Code, grade.Code)
		}
		wellSaid(t, mistake.Name, grade.Text)
	}
}

// A whole output, for a person and for a platform.
func TestACheckReportsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	snapshot := solved(t)
	drop(snapshot, "hello")
	delete(snapshot.Files, "report.json")
	delete(snapshot.Devices, pod(snapshot, "train-leader").Name)
	grading := grade.GradeAll(Course.Steps, labtest.AsChecked(snapshot))
	grading.Suite, grading.Cluster, grading.WorkDir = "the commit", "https://lab.test:6443", "/"
	content, err := json.MarshalIndent(grading, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	goldenFile(t, "check/whole.txt", grading.String()+"\n")
	goldenFile(t, "check/whole.json", string(content)+"\n")
}
