package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// Repeats are several walks of one lab, one after the other, as repeats.json
// holds them: how often the same thing comes out.
type Repeats struct {
	Schema  int                `json:"schema"`
	Suite   string             `json:"suite"`
	Started time.Time          `json:"started"`
	Found   preflight.Versions `json:"found"`
	Wanted  int                `json:"wanted"` // how many were asked for
	Runs    []Repeat           `json:"runs"`
	// Failures are told once each: what some runs failed by and others did not is a
	// flake, what all failed by is broken.
	Failures []Recurrence `json:"failures,omitempty"`
}

// A Repeat is one of the runs.
type Repeat struct {
	Run     int     `json:"run"`
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason"`
	Seconds float64 `json:"seconds"`
	By      string  `json:"failedBy,omitempty"`
}

// A Recurrence is one first failure, and the runs that it ended.
type Recurrence struct {
	By    string `json:"by"`
	Says  string `json:"says"` // the first line of the first one's message
	Runs  []int  `json:"runs"`
	Flake bool   `json:"flake"`
}

// Add takes the verdict of the next run in.
func (r *Repeats) Add(verdict Verdict) {
	run := Repeat{Run: len(r.Runs) + 1, Verdict: verdict.Verdict, Reason: verdict.Reason, Seconds: verdict.Seconds}
	if r.Found == (preflight.Versions{}) {
		r.Found = verdict.Found
	}
	if run.Failed() {
		says := verdict.Reason
		run.By = "the run as a whole"
		if verdict.FirstFailure != nil {
			run.By, says = verdict.FirstFailure.By, text.FirstLine(verdict.FirstFailure.Message)
		}
		r.recur(run, says)
	}
	r.Runs = append(r.Runs, run)
	for i := range r.Failures {
		r.Failures[i].Flake = len(r.Failures[i].Runs) < len(r.Runs)
	}
}

func (r *Repeats) recur(run Repeat, says string) {
	for i := range r.Failures {
		if r.Failures[i].By == run.By {
			r.Failures[i].Runs = append(r.Failures[i].Runs, run.Run)
			return
		}
	}
	r.Failures = append(r.Failures, Recurrence{By: run.By, Says: says, Runs: []int{run.Run}})
}

// Failed tells a run that is neither passed nor partial.
func (r Repeat) Failed() bool { return r.Verdict != passed && r.Verdict != partial }

// Failed is how many of the runs that were asked for did not end well, those that
// were not come to included.
func (r Repeats) Failed() int {
	ended := 0
	for _, run := range r.Runs {
		if !run.Failed() {
			ended++
		}
	}
	return r.Wanted - ended
}

// String renders the runs and what recurred.
func (r Repeats) String() string {
	rows := [][]string{{"run", "verdict", "seconds", "failed by"}}
	for _, run := range r.Runs {
		rows = append(rows, []string{fmt.Sprint(run.Run), run.Verdict, fmt.Sprintf("%7.1f", run.Seconds), run.By})
	}
	out := text.Indent(text.Columns(rows), " ") + fmt.Sprintf("\n\n %d of %d walks did not fail", r.Wanted-r.Failed(), r.Wanted)
	for _, failure := range r.Failures {
		kind := "broken: every walk"
		if failure.Flake {
			kind = fmt.Sprintf("a flake: walk %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(failure.Runs), " ", ", "), "[]"))
		}
		out += fmt.Sprintf("\n %s failed by %s: %s", kind, failure.By, failure.Says)
	}
	return text.Visible(out)
}

// SaveRepeats writes repeats.json, and adds the same as one line to the history of
// earlier ones, history/repeats.jsonl, so that a flake of one night in ten is seen.
func SaveRepeats(s settings.Settings, repeats Repeats) error {
	content, err := json.MarshalIndent(repeats, "", "  ")
	if err == nil {
		err = files.ReplaceFile(repeatsPath(s), append(content, '\n'))
	}
	if err != nil {
		return fmt.Errorf("saving the repeats: %w", err)
	}
	line, err := json.Marshal(repeats)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(historyPath(s)), 0o755)
	}
	if err != nil {
		return fmt.Errorf("keeping the history of repeats: %w", err)
	}
	history, err := os.OpenFile(historyPath(s), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("keeping the history of repeats: %w", err)
	}
	_, err = history.Write(append(line, '\n'))
	if err := errors.Join(err, history.Sync(), history.Close()); err != nil {
		return fmt.Errorf("keeping the history of repeats: %w", err)
	}
	return nil
}

func repeatsPath(s settings.Settings) string { return filepath.Join(s.Reports, "repeats.json") }
func historyPath(s settings.Settings) string {
	return filepath.Join(s.Reports, "history", "repeats.jsonl")
}

// ReadRepeats reads repeats.json.
func ReadRepeats(s settings.Settings) (repeats Repeats, err error) {
	content, err := os.ReadFile(repeatsPath(s))
	if err == nil {
		err = json.Unmarshal(content, &repeats)
	}
	if err != nil {
		return repeats, fmt.Errorf("reading the repeats: %w", err)
	}
	return repeats, nil
}

// Nth are the settings of the nth of several runs: reports and files of its own.
func Nth(s settings.Settings, n int) settings.Settings {
	s.Reports = filepath.Join(s.Reports, "repeats", fmt.Sprint(n))
	s.WorkDir = filepath.Join(s.Reports, "gsb-jobset")
	return s
}

// BeginRepeats takes away what earlier runs reported; the history stays.
func BeginRepeats(s settings.Settings) (end func(), err error) {
	end, err = removePreviousReports(s)
	if err != nil {
		return nil, err
	}
	return end, removeReports(s, "repeats")
}
