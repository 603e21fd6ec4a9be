package report

import (
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

// Items are what a run reports of.
type Items struct {
	Steps, Mistakes []Item
	// Probes are the specs that only claims need.
	Probes []Item
	// Whole says that every step was asked for.
	Whole bool
}

// An Item is one step or mistake as a report lists it.
type Item struct {
	Label       string // of its specs
	Number      int    // of a mistake, the step that it is made in
	Name, Title string
	// Asked marks a step that is to be judged, First one that is only done because
	// an asked one needs it.
	Asked, First bool
	// Reported marks a mistake that does not decide the verdict.
	Reported bool
}

func (i Item) result(reports types.SpecReports) Result {
	result := Result{Number: i.Number, Name: i.Name, Title: i.Title}
	if !i.Asked && !i.First {
		result.State, result.Why = notRun, notAskedFor
		return result
	}
	result.summarize(withLabel(reports, i.Label))
	if result.State == passed && i.First {
		result.State = done
	}
	return result
}

// Labels by which a spec's report is known to belong to a step or a mistake.
const (
	StepLabel    = "step-"
	MistakeLabel = "mistake-"
	ProbeLabel   = "claim-"
)

// A tookEntry is the report entry of a spec that only waits for what was done beside
// others, and says how long that took.
type tookEntry struct {
	Took time.Duration `json:"took"`
}

// Took says of the running spec how long its work took, where its own time does not.
func Took(took time.Duration) {
	ginkgo.AddReportEntry("took", tookEntry{took}, types.ReportEntryVisibilityNever)
}

func runTime(report types.SpecReport) time.Duration {
	for _, entry := range report.ReportEntries {
		if took, ok := entry.GetRawValue().(tookEntry); ok {
			return took.Took
		}
	}
	return report.RunTime
}

// labelTitle is what the step or mistake of a label is called in a verdict.
func labelTitle(label, otherwise string) string {
	if number, ok := strings.CutPrefix(label, StepLabel); ok {
		return "step " + number
	}
	if name, ok := strings.CutPrefix(label, MistakeLabel); ok {
		return "mistake " + name
	}
	if name, ok := strings.CutPrefix(label, ProbeLabel); ok {
		return "claim " + name
	}
	return otherwise
}
