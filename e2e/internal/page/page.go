// Package page makes of a run one HTML file for the person who must decide on it: the
// verdict, the failure, a timeline, and what lies behind them. All that it shows was
// written by others: learners, controllers, machines. Nothing of it is trusted.
package page

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Name is the file of the page in the folder of the reports.
const Name = "report.html"

// A Page is all that a page shows, as data.
type Page struct {
	// Kind is what was done: run, check or faults.
	Kind     string
	Verdict  report.Verdict
	Failure  *Failure
	Timeline Timeline
	Steps    []Item
	Mistakes []Item
	Faults   []Fault
	History  History
	// Files is where the reports lie.
	Files string
}

// An Item is a step or a mistake, and what there is to show of it.
type Item struct {
	report.Result
	Label string
	// Words are what a learner is told; of a run only where it failed.
	Words snapshot.Text
	Notes []snapshot.Text
	Specs []Spec
	Seen  Seen
	// JobSets are those whose events are shown.
	Events []Mark
	Logs   []Log
}

// A Spec is one claim of a step that was tried.
type Spec struct {
	Text    string
	State   string
	Seconds float64
}

// A Log is the end of what a container printed.
type Log struct{ Name, Text string }

// A Failure is the first failure of a run, as far as it is known in parts.
type Failure struct {
	report.FirstFailure
	// Item is the step or mistake that failed, if it is one.
	Item *Item
	report.Failure
}

// A Fault is one of a catalogue of broken labs, and how it was reported.
type Fault struct {
	Name, Title, CaughtBy, Code, Cause, Wrong, Message string
	Seconds, RestoredIn                                float64
	// Page is the page of its run, seen from this one.
	Page string
}

// Write makes the page of the reports that lie in the folder of the settings: of a run,
// also of one that was interrupted, refused, or came from another machine.
func Write(s settings.Settings) error {
	p, err := read(s)
	if err != nil {
		return fmt.Errorf("making the page of the run: %w", err)
	}
	return p.Save()
}

// Save writes the page into the folder of its reports.
func (p Page) Save() error {
	content, err := p.HTML()
	if err == nil {
		err = files.ReplaceFile(filepath.Join(p.Files, Name), content)
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// read collects from the reports of a run what its page shows. What was not written,
// such as the specs of a run that did not begin, is not on the page.
func read(s settings.Settings) (Page, error) {
	p := Page{Kind: "run", Files: s.Reports}
	var err error
	if p.Verdict, err = report.ReadVerdict(s); err != nil {
		return p, err
	}
	if p.Timeline, err = readTimeline(s.Reports); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("reading the timeline: %w", err)
	}
	specs, err := readSpecs(s)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	for _, result := range p.Verdict.Steps {
		p.Steps = append(p.Steps, p.item(result, fmt.Sprintf("%s%d", report.StepLabel, result.Number), specs.SpecReports))
	}
	for _, result := range p.Verdict.Mistakes {
		p.Mistakes = append(p.Mistakes, p.item(result, report.MistakeLabel+result.Name, specs.SpecReports))
	}
	for i := range p.Steps {
		p.Steps[i].Logs = logsOf(s, fmt.Sprintf("step%d-%s", p.Steps[i].Number, p.Steps[i].Name))
	}
	for i := range p.Mistakes {
		p.Mistakes[i].Logs = logsOf(s, "mistake-"+p.Mistakes[i].Name)
	}
	p.Failure = p.firstFailure(specs.SpecReports)
	p.History, err = readHistory(s.Reports)
	return p, err
}

// when is how a time is written on the page.
func when(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }
