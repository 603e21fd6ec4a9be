package page

import (
	"fmt"
	"math"
	"slices"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Comparison is what differs between two runs: the first thing that one wants to see
// after an upgrade.
type Comparison struct {
	A, B     Page
	Versions []ComparedVersion
	Steps    []ComparedResult
	Mistakes []ComparedResult
}

// A ComparedVersion is one part of the lab in both runs.
type ComparedVersion struct {
	Name, A, B string
	Differs    bool
}

// A ComparedResult is one step or mistake in both runs.
type ComparedResult struct {
	Name string
	A, B report.Result
	// New marks one that failed in B and did not in A, Fixed the other way round.
	New, Fixed bool
	// Slower is by how many seconds B took longer; it is 0 where the difference is noise.
	Slower float64
}

// noise is how much the same step on the same lab differs from run to run, in seconds
// and as a share.
const (
	noiseSeconds = 2.0
	noiseShare   = 0.25
)

// Compare makes one page of the reports of two runs, which lie in two folders.
func Compare(a, b string) ([]byte, error) {
	c := &Comparison{}
	var err error
	if c.A, err = read(settings.Settings{Reports: a}); err != nil {
		return nil, fmt.Errorf("reading the run in %s: %w", a, err)
	}
	if c.B, err = read(settings.Settings{Reports: b}); err != nil {
		return nil, fmt.Errorf("reading the run in %s: %w", b, err)
	}
	before, after := c.A.Verdict, c.B.Verdict
	for _, part := range []ComparedVersion{
		{Name: "Kubernetes", A: before.Found.Kubernetes, B: after.Found.Kubernetes},
		{Name: "JobSet", A: before.Found.JobSet, B: after.Found.JobSet},
		{Name: "Kueue", A: before.Found.Kueue, B: after.Found.Kueue},
		{Name: "lab-e2e", A: before.Suite, B: after.Suite},
	} {
		part.Differs = part.A != part.B
		c.Versions = append(c.Versions, part)
	}
	c.Steps, c.Mistakes = compared(before.Steps, after.Steps), compared(before.Mistakes, after.Mistakes)
	return view{Page: Page{Kind: "compare", Files: a + ", " + b}, Compare: c, Charts: c.charts()}.render()
}

func compared(before, after []report.Result) []ComparedResult {
	var results []ComparedResult
	find := func(name string) int {
		return slices.IndexFunc(results, func(r ComparedResult) bool { return r.Name == name })
	}
	for _, result := range before {
		results = append(results, ComparedResult{Name: result.Name, A: result})
	}
	for _, result := range after {
		at := find(result.Name)
		if at < 0 {
			at = len(results)
			results = append(results, ComparedResult{Name: result.Name})
		}
		results[at].B = result
	}
	for i := range results {
		r := &results[i]
		r.New = r.B.State == report.Failed && r.A.State != report.Failed
		r.Fixed = r.A.State == report.Failed && r.B.State != report.Failed && r.B.Seconds > 0
		slower := r.B.Seconds - r.A.Seconds
		if r.A.Seconds > 0 && r.B.Seconds > 0 && math.Abs(slower) > max(noiseSeconds, noiseShare*r.A.Seconds) {
			r.Slower = slower
		}
	}
	return results
}

// charts are both runs' steps on scales of the same length, one above the other.
func (c *Comparison) charts() []titledChart {
	begins := func(t Timeline) float64 {
		begin := t.End
		for _, span := range t.Spans {
			if span.step() {
				begin = min(begin, span.From)
			}
		}
		return max(0, begin-0.3)
	}
	a, b := c.A.Timeline, c.B.Timeline
	length := max(a.End-begins(a), b.End-begins(b), 1)
	var charts []titledChart
	for _, run := range []struct {
		id string
		t  Timeline
	}{{"A", a}, {"B", b}} {
		if len(run.t.Spans) == 0 {
			continue
		}
		s := scale{begins(run.t), begins(run.t) + length}
		charts = append(charts, titledChart{run.t.layout(run.id, s, Span.step), snapshot.Text{EN: "Run " + run.id, KO: "실행 " + run.id}, false, run.t.table(s)})
	}
	return charts
}

// Failures are the steps and mistakes that failed in the second run alone.
func (c *Comparison) Failures() []ComparedResult {
	return slices.DeleteFunc(slices.Concat(c.Steps, c.Mistakes), func(r ComparedResult) bool { return !r.New })
}
