package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A History is what became of the last runs, oldest first.
type History []PastRun

// A PastRun is a line of history/runs.jsonl.
type PastRun struct {
	Run     string             `json:"run"`
	Verdict string             `json:"verdict"`
	Suite   string             `json:"suite"`
	Started time.Time          `json:"started"`
	Seconds float64            `json:"seconds"`
	Found   preflight.Versions `json:"found"`
	Steps   []PastStep         `json:"steps,omitempty"`
}

// A PastStep is how a step came out.
type PastStep struct {
	Number  int           `json:"number"`
	Name    string        `json:"name"`
	State   string        `json:"result"`
	Code    snapshot.Code `json:"code,omitempty"`
	Seconds float64       `json:"seconds"`
}

// keptRuns is how many runs the history goes back.
const keptRuns = 30

func historyPath(folder string) string { return filepath.Join(folder, "history", "runs.jsonl") }

// readHistory reads the last runs. A line that is none, such as half of one, is left out.
func readHistory(folder string) (History, error) {
	content, err := os.ReadFile(historyPath(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the last runs: %w", err)
	}
	var history History
	for line := range bytes.Lines(content) {
		var run PastRun
		if json.Unmarshal(line, &run) == nil && run.Verdict != "" {
			history = append(history, run)
		}
	}
	return history[max(0, len(history)-keptRuns):], nil
}

// Remember adds a run to the history that lies in the folder of the reports.
func Remember(folder string, v report.Verdict) error {
	history, err := readHistory(folder)
	if err != nil {
		return err
	}
	run := PastRun{Run: v.Run, Verdict: v.Verdict, Suite: v.Suite, Started: v.Started, Seconds: v.Seconds, Found: v.Found}
	for _, step := range v.Steps {
		run.Steps = append(run.Steps, PastStep{step.Number, step.Name, step.State, step.Code, step.Seconds})
	}
	history = append(history, run)
	var content bytes.Buffer
	for _, run := range history[max(0, len(history)-keptRuns):] {
		line, err := json.Marshal(run)
		if err != nil {
			return fmt.Errorf("adding to the last runs: %w", err)
		}
		content.Write(append(line, '\n'))
	}
	err = os.MkdirAll(filepath.Dir(historyPath(folder)), 0o755)
	if err == nil {
		err = files.ReplaceFile(historyPath(folder), content.Bytes())
	}
	if err != nil {
		return fmt.Errorf("adding to the last runs: %w", err)
	}
	return nil
}

// A StepHistory is one step in the last runs.
type StepHistory struct {
	Number int
	Name   string
	// Runs has an entry for each run; nil where the step was not judged.
	Runs  []*PastStep
	Flake string // the code by which it failed, if runs of the same suite on the same versions passed
}

// judged says that a step passed or failed, and was not left out.
func (s PastStep) judged() bool {
	return s.State == "passed" || s.State == "failed" || s.State == "done"
}

// Steps are the steps of the last runs, in order.
func (h History) Steps() []StepHistory {
	var steps []StepHistory
	for i, run := range h {
		for _, step := range run.Steps {
			at := slices.IndexFunc(steps, func(s StepHistory) bool { return s.Number == step.Number })
			if at < 0 {
				at = len(steps)
				steps = append(steps, StepHistory{Number: step.Number, Name: step.Name, Runs: make([]*PastStep, len(h))})
			}
			if step.judged() {
				steps[at].Runs[i] = &step
			}
		}
	}
	for i := range steps {
		steps[i].Flake = h.flake(steps[i])
	}
	slices.SortFunc(steps, func(a, b StepHistory) int { return cmp.Compare(a.Number, b.Number) })
	return steps
}

// flake is why a step failed in a run of which another one differs in nothing, and
// passed it.
func (h History) flake(step StepHistory) string {
	for i, failed := range step.Runs {
		if failed == nil || failed.State != "failed" {
			continue
		}
		for j, other := range step.Runs {
			if other != nil && other.State != "failed" && h[i].Suite == h[j].Suite && h[i].Found == h[j].Found {
				return cmp.Or(string(failed.Code), "failed")
			}
		}
	}
	return ""
}
