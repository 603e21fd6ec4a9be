package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Result is how one answer was judged.
type Result struct {
	Answer         Answer
	ByRun, ByCheck string
	Says           string // of the check, in English
	Seconds        float64
	// Wrong is why this answer fails the run; empty if it was judged as it must be.
	Wrong string
}

func (r *Result) compare(found judgement) {
	r.ByRun, r.ByCheck, r.Says = found.byRun, found.byCheck, found.says
	if r.Wrong != "" {
		return
	}
	switch wanted := r.Answer.Verdict; {
	case found.is(wanted):
	case found.byRun == found.byCheck:
		r.Wrong = fmt.Sprintf("run and check say %s and should say %s: %s", found.byRun, wanted, found.says)
	default:
		r.Wrong = fmt.Sprintf("run says %s and check says %s; both should say %s: %s", found.byRun, found.byCheck, wanted, found.says)
	}
}

func (r Result) String() string {
	if r.Wrong != "" {
		return fmt.Sprintf("✗ %s (%.1f s): %s", r.Answer.Name, r.Seconds, r.Wrong)
	}
	return fmt.Sprintf("✓ %s (%.1f s): %s", r.Answer.Name, r.Seconds, r.ByCheck)
}

// table is the results by step, one a line.
func table(results []Result) string {
	results = slices.Clone(results)
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Answer.Step.Number, b.Answer.Step.Number), cmp.Compare(a.Answer.Name, b.Answer.Name))
	})
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(writer, "\tstep\tanswer\twanted\trun\tcheck\tseconds")
	for _, r := range results {
		mark := "✓"
		if r.Wrong != "" {
			mark = "✗"
		}
		_, _ = fmt.Fprintf(writer, "%s\t%d\t%s\t%s\t%s\t%s\t%.1f\n", mark, r.Answer.Step.Number, r.Answer.Name, r.Answer.Verdict, r.ByRun, r.ByCheck, r.Seconds)
	}
	_ = writer.Flush()
	return text.String()
}
