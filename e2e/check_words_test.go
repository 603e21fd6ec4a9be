package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/lab"
)

// These tests judge what a learner is told: testdata/check has both sentences for
// every wrong variation and every mistake. Read those files aloud.

// asChecked is the snapshot as a check sees the same lab: one reading, the events
// on what is still there, no history, and nothing from inside of a pod. What the
// kubelet says of devices is what the pods said.
func asChecked(s *lab.Snapshot) *lab.Snapshot {
	recorder := lab.NewRecorder()
	recorder.SawAll(s)
	s.Seen, s.ReadOnly = recorder.History(), true
	s.Events = slices.DeleteFunc(s.Events, func(event lab.Event) bool {
		_, there := s.Seen.Of(event.UID)
		return !there
	})
	return s
}

// wellSaid fails if a learner would be told nothing, or half of it.
func wellSaid(t *testing.T, of string, words lab.Words) {
	t.Helper()
	for language, sentence := range map[string]string{"Korean": words.KO, "English": words.EN} {
		if !strings.HasSuffix(sentence, ".") || strings.Contains(sentence, "%!") || strings.Contains(sentence, "\n") {
			t.Errorf("%s: the %s sentence is %q", of, language, sentence)
		}
	}
}

func TestCheckHasTwoSentencesForEveryRefusal(t *testing.T) {
	for _, step := range lab.Steps() {
		t.Run(step.Name, func(t *testing.T) {
			var told strings.Builder
			for _, wrong := range varied[step.Number].wrong {
				snapshot := walked(t)
				wrong.change(snapshot)
				refusal, _ := step.Refusal(snapshot)
				if refusal == nil {
					t.Errorf("%s: passed", wrong.name)
					continue
				}
				wellSaid(t, wrong.name, refusal.Words)
				fmt.Fprintf(&told, "## %s\n%s\n%s\n\n", wrong.name, refusal.Words.KO, refusal.Words.EN)
			}
			goldenFile(t, fmt.Sprintf("check/step%d.txt", step.Number), told.String())
		})
	}
}

// What a check does not see because it looks once is written down, so that
// nothing else slips through it; and it must not refuse what is right.
func TestCheckNeedsNoHistory(t *testing.T) {
	var unseen strings.Builder
	for _, step := range lab.Steps() {
		if grade := step.Grade(asChecked(walked(t))); !grade.Passed || len(grade.Notes) > 0 {
			t.Errorf("%s: the walked lab is refused: %+v", step, grade)
		}
		for _, wrong := range varied[step.Number].wrong {
			snapshot := walked(t)
			wrong.change(snapshot)
			grade := step.Grade(asChecked(snapshot))
			if !grade.Passed {
				continue
			}
			fmt.Fprintf(&unseen, "## step %d: %s\n", step.Number, wrong.name)
			for _, note := range grade.Notes {
				wellSaid(t, wrong.name, note)
				fmt.Fprintf(&unseen, "%s\n%s\n", note.KO, note.EN)
			}
			unseen.WriteString("\n")
		}
		for _, right := range varied[step.Number].right {
			snapshot := walked(t)
			right.change(snapshot)
			if grade := step.Grade(asChecked(snapshot)); !grade.Passed {
				t.Errorf("%s: %s: refused: %s", step, right.name, grade.EN)
			}
		}
	}
	goldenFile(t, "check/unseen.txt", unseen.String())
}

func TestCheckRefusesEveryMistake(t *testing.T) {
	var told strings.Builder
	for _, mistake := range lab.Mistakes() {
		snapshot := recorded(t, "mistakes/"+mistake.Name+".yaml")
		grade := lab.Steps()[mistake.Step-1].Grade(asChecked(snapshot))
		if grade.Passed {
			t.Errorf("%s: step %d is passed with it", mistake.Name, mistake.Step)
		}
		wellSaid(t, mistake.Name, grade.Words)
		fmt.Fprintf(&told, "## %s (step %d)\n%s\n%s\n\n", mistake.Name, mistake.Step, grade.KO, grade.EN)
	}
	goldenFile(t, "check/mistakes.txt", told.String())
}

// A whole output, for a person and for a platform.
func TestCheckTellsTheWhole(t *testing.T) {
	snapshot := walked(t)
	drop(snapshot, "hello")
	delete(snapshot.Files, "report.json")
	delete(snapshot.Devices, pod(snapshot, "train-leader").Name)
	grading := lab.GradeAll(lab.Steps(), asChecked(snapshot))
	grading.Suite, grading.Cluster, grading.WorkDir = "the commit", "https://lab.test:6443", "/"
	content, err := json.MarshalIndent(grading, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	goldenFile(t, "check/whole.txt", grading.String()+"\n")
	goldenFile(t, "check/whole.json", string(content)+"\n")
}
