package grade

import (
	"fmt"
	"os"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// WritePage makes the page of a grading in a folder of reports that is there already:
// a check makes none. began is when it looked.
func (g Grading) WritePage(s settings.Settings, began time.Time) error {
	if _, err := os.Stat(s.Reports); err != nil {
		return nil //nolint:nilerr // no folder of reports, no page
	}
	end, err := report.Hold(s)
	if err != nil {
		return err
	}
	defer end()
	return g.page(s.Reports, began).Save()
}

// page is the grading as a page shows it.
func (g Grading) page(reports string, began time.Time) page.Page {
	p := page.Page{Kind: "check", Files: reports}
	p.Verdict = report.Verdict{Verdict: report.Passed, Reason: "every step that was asked for is passed", Suite: g.Suite, Started: began, Seconds: time.Since(began).Seconds()}
	p.Timeline.Lab = g.Cluster
	missing := 0
	for i, grade := range g.Steps {
		item := page.Item{Result: report.Result{Number: grade.Step, Name: grade.Name, Title: grade.Title, State: report.Passed, Code: grade.Code}, Notes: grade.Notes}
		if !grade.Passed {
			missing++
			item.State, item.Words = report.Failed, grade.Text
		}
		if i < len(g.judged) {
			step := g.judged[i]
			item.Seen = page.SeenOf(g.looked, step.JobSets, step.Files, func(s *snapshot.Snapshot) []*matchers.Mismatch { return step.Judge(s).Mismatches })
			item.Events = page.EventsOf(g.looked, step.JobSets)
		}
		p.Steps = append(p.Steps, item)
	}
	if missing > 0 {
		p.Verdict.Verdict, p.Verdict.Reason = report.Failed, fmt.Sprintf("%d of %d steps are not passed", missing, len(g.Steps))
	}
	if g.Error != "" {
		p.Verdict.Verdict, p.Verdict.Reason = report.NotRun, g.Error
	}
	return p
}
