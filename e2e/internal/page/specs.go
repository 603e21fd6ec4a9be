package page

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// readSpecs reads what Ginkgo reported of a run. Where it reported nothing, as of a run
// that did not begin, there is nothing.
func readSpecs(s settings.Settings) (types.Report, error) {
	content, err := os.ReadFile(report.SpecsReport(s))
	if err != nil {
		return types.Report{}, err
	}
	var reports []types.Report
	if err := json.Unmarshal(content, &reports); err != nil || len(reports) == 0 {
		return types.Report{}, fmt.Errorf("reading what Ginkgo reported: %w", err)
	}
	return reports[0], nil
}

// entry reads a report entry of a spec into value, the last one of that name.
func entry(spec types.SpecReport, name string, value any) bool {
	found := false
	for _, e := range spec.ReportEntries {
		if e.Name == name && json.Unmarshal([]byte(e.Value.AsJSON), value) == nil {
			found = true
		}
	}
	return found
}

// labelOf is the label by which a spec belongs to a step or a mistake.
func labelOf(spec types.SpecReport) string {
	for _, label := range spec.Labels() {
		if strings.HasPrefix(label, report.StepLabel) || strings.HasPrefix(label, report.MistakeLabel) {
			return label
		}
	}
	return ""
}

// addSpecs puts the steps, the mistakes and what the learner did in them on the timeline.
func (t *Timeline) addSpecs(specs types.SpecReports) {
	since := func(at time.Time) float64 { return at.Sub(t.Start).Seconds() }
	for _, spec := range specs {
		label := labelOf(spec)
		if label == "" || spec.StartTime.IsZero() || spec.State.Is(types.SpecStateSkipped|types.SpecStatePending) {
			continue
		}
		from, to := since(spec.StartTime), since(spec.EndTime)
		at := slices.IndexFunc(t.Spans, func(s Span) bool { return s.Label == label })
		if at < 0 {
			at = len(t.Spans)
			t.Spans = append(t.Spans, Span{Label: label, From: from, State: spec.State.String()})
		}
		t.Spans[at].To = max(t.Spans[at].To, to)
		if !spec.State.Is(types.SpecStatePassed) {
			t.Spans[at].State = spec.State.String()
		}
		for _, event := range spec.SpecEvents {
			// Mistakes are made beside each other; what was done in one is reported by its
			// spec later, when it is not done any more.
			if event.SpecEventType == types.SpecEventByStart && strings.HasPrefix(label, report.StepLabel) {
				t.Marks = append(t.Marks, Mark{At: since(event.TimelineLocation.Time), What: event.Message, Label: label})
			}
		}
	}
}
