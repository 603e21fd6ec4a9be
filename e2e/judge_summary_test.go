package e2e

import (
	"testing"

	"gsb.test/jobset-e2e/e2e/lab"
)

func TestJudgeSummary(t *testing.T) {
	golden(t, "summary-nothing.md", lab.Settings{Reports: "/nowhere"}.Summary())

	settings := lab.Settings{Reports: t.TempDir()}
	repeats := lab.Repeats{Wanted: len(runs)}
	for _, of := range runs {
		closing := end(t, of)
		repeats.Add(closing.Machine())
		if of.name != "partial" && of.name != "failed" {
			continue
		}
		if err := settings.SaveClosing(closing); err != nil {
			t.Fatal(err)
		}
		golden(t, "summary-"+of.name+".md", settings.Summary())
	}
	reported, err := settings.BeginRepeats()
	if err != nil {
		t.Fatal(err)
	}
	defer reported()
	if err := settings.SaveRepeats(repeats); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary-repeats.md", settings.Summary())
}
