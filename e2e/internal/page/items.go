package page

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// item collects what there is of a step or a mistake.
func (p Page) item(result report.Result, label string, specs types.SpecReports) Item {
	item := Item{Result: result, Label: label}
	for _, spec := range specs {
		if labelOf(spec) != label {
			continue
		}
		item.Specs = append(item.Specs, Spec{Text: spec.LeafNodeText, State: spec.State.String(), Seconds: text.Seconds(spec.RunTime)})
		entry(spec, seenEntry, &item.Seen)
		var failure report.Failure
		if entry(spec, report.FailureEntry, &failure) {
			item.Words = failure.Text
		}
	}
	item.Events = p.Timeline.eventsOf(label)
	return item
}

// mostEvents bounds the events of a step on the page.
const mostEvents = 60

// eventsOf are the events of the JobSets that a step or mistake brought up, oldest first.
func (t Timeline) eventsOf(label string) []Mark {
	at := slices.IndexFunc(t.Spans, func(s Span) bool { return s.Label == label })
	if at < 0 {
		return nil
	}
	var events []Mark
	for _, lane := range t.Lanes {
		if t.spanOf(lane.group()) != at {
			continue
		}
		events = append(events, lane.marks()...)
	}
	return sorted(events)
}

// marks are a lane's, each with what it is about.
func (l Lane) marks() []Mark {
	var marks []Mark
	for _, mark := range l.Marks {
		mark.Text = strings.TrimPrefix(mark.Text, l.Name+": ")
		mark.Label = l.Kind + " " + l.Name
		marks = append(marks, mark)
	}
	return marks
}

// sorted are the first events by their time.
func sorted(events []Mark) []Mark {
	slices.SortStableFunc(events, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	return events[:min(len(events), mostEvents)]
}

// EventsOf are the events on JobSets, and on what is theirs, that one look at the lab saw.
func EventsOf(s *snapshot.Snapshot, jobSets []string) []Mark {
	if s == nil {
		return nil
	}
	t := newTimeline(s.Seen.Since, 0, []snapshot.History{s.Seen}, [][]snapshot.Event{s.Events})
	var events []Mark
	for _, lane := range t.Lanes {
		if slices.Contains(jobSets, lane.JobSet) {
			events = append(events, lane.marks()...)
		}
	}
	return sorted(events)
}

// spanOf is the step or mistake in which a JobSet was first seen; -1 if in none.
func (t Timeline) spanOf(of group) int {
	for _, lane := range t.Lanes {
		if lane.group() != of || len(lane.Bars) == 0 {
			continue
		}
		for i, span := range t.Spans {
			if lane.Bars[0].From >= span.From && lane.Bars[0].From <= span.To {
				return i
			}
		}
	}
	return -1
}

// keptLog bounds what is shown of a log, from its end.
const keptLog = 12 << 10

// logsOf reads the logs in the evidence of a failure.
func logsOf(s settings.Settings, folder string) []Log {
	paths, _ := filepath.Glob(filepath.Join(s.EvidenceDir(), folder, "*", "*.log")) // the pattern is well-formed
	var logs []Log
	for _, path := range paths {
		// Evidence from another machine may be anything; it was unpacked without links.
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<20 {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil || strings.TrimSpace(string(content)) == "" {
			continue
		}
		logs = append(logs, Log{Name: strings.TrimSuffix(filepath.Base(path), ".log"), Text: clipFront(string(content), keptLog)})
	}
	return logs
}

// firstFailure is the first failure with all its parts; nil if nothing failed.
func (p Page) firstFailure(specs types.SpecReports) *Failure {
	if p.Verdict.FirstFailure == nil {
		return nil
	}
	failure := &Failure{FirstFailure: *p.Verdict.FirstFailure}
	for _, spec := range specs {
		if spec.State.Is(types.SpecStateFailureStates) {
			entry(spec, report.FailureEntry, &failure.Failure)
			for _, items := range [][]Item{p.Steps, p.Mistakes} {
				for i := range items {
					if items[i].Label == labelOf(spec) {
						failure.Item = &items[i]
					}
				}
			}
			break
		}
	}
	return failure
}
