package steps

import (
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	golden(t, "summary-nothing.md", report.Markdown(settings.Settings{Reports: "/nowhere"}))

	settings := settings.Settings{Reports: t.TempDir()}
	for _, of := range runs {
		closing := end(t, of)
		if of.name != "partial" && of.name != "failed" {
			continue
		}
		if err := report.SaveClosing(settings, closing); err != nil {
			t.Fatal(err)
		}
		golden(t, "summary-"+of.name+".md", report.Markdown(settings))
	}
}
