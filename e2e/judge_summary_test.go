package e2e

import (
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

func TestJudgeSummary(t *testing.T) {
	golden(t, "summary-nothing.md", report.Markdown(settings.Settings{Reports: "/nowhere"}))

	settings := settings.Settings{Reports: t.TempDir()}
	repeats := report.Repeats{Wanted: len(runs)}
	for _, of := range runs {
		closing := end(t, of)
		repeats.Add(closing.ToVerdict())
		if of.name != "partial" && of.name != "failed" {
			continue
		}
		if err := report.SaveClosing(settings, closing); err != nil {
			t.Fatal(err)
		}
		golden(t, "summary-"+of.name+".md", report.Markdown(settings))
	}
	reported, err := report.BeginRepeats(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer reported()
	if err := report.SaveRepeats(settings, repeats); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary-repeats.md", report.Markdown(settings))
}
