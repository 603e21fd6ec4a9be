package faults

import (
	"fmt"
	"path/filepath"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/report"
)

// writePage makes the page of the catalogue; each fault's own run has one of its own.
func (r *Run) writePage(results []Result, failed int, began time.Time) error {
	p := page.Page{Kind: "faults", Files: r.Settings.Reports}
	p.Verdict = report.Verdict{Run: r.Settings.Run, Verdict: report.Passed, Suite: report.Commit, Started: began, Seconds: time.Since(began).Seconds(),
		Reason: fmt.Sprintf("%d of %d faults were tried, and each was reported as it must be", min(len(results), len(r.Faults)), len(r.Faults))}
	if failed > 0 {
		p.Verdict.Verdict = report.Failed
		p.Verdict.Reason = fmt.Sprintf("%d of %d faults were tried; %d were not reported as they must be, or not tried", min(len(results), len(r.Faults)), len(r.Faults), failed)
	}
	if r.lab != nil {
		p.Timeline.Lab = r.lab.Config.Host
	}
	for _, result := range results {
		p.Faults = append(p.Faults, page.Fault{Name: result.Fault, Title: result.Title, CaughtBy: result.CaughtBy, Code: string(result.Code), Cause: string(result.Cause),
			Wrong: result.Wrong, Message: result.Message, Seconds: result.Seconds, RestoredIn: result.RestoredIn,
			Page: filepath.ToSlash(filepath.Join("faults", result.Fault, page.Name))})
	}
	return p.Save()
}
