package report

import (
	"fmt"
	"strconv"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// String renders the closing block.
func (c Summary) String() string {
	rows := [][]string{{"step", "name", "title", "result", "seconds"}}
	for _, step := range c.Steps {
		rows = append(rows, []string{strconv.Itoa(step.Number), step.Name, step.Title, step.State, step.seconds()})
		rows = append(rows, step.why(2)...)
	}
	var out strings.Builder
	rule := strings.Repeat("─", 78)
	fmt.Fprintf(&out, "%s\n%s\n", rule, text.Indent(text.Columns(rows), " "))
	if len(c.Mistakes) > 0 {
		rows = [][]string{{"mistake of step", "name", "result", "seconds"}}
		for _, mistake := range c.Mistakes {
			rows = append(rows, []string{strconv.Itoa(mistake.Number), mistake.Name, mistake.State, mistake.seconds()})
			rows = append(rows, mistake.why(1)...)
		}
		fmt.Fprintf(&out, "\n%s\n", text.Indent(text.Columns(rows), " "))
	}
	rows = [][]string{
		{"steps took", fmt.Sprintf("%.1f s", c.total())},
		{"versions", fmt.Sprintf("Kubernetes %s, JobSet %s, Kueue %s", text.Or(c.Versions.Kubernetes, "not known"),
			text.Or(c.Versions.JobSet, "not known"), text.Or(c.Versions.Kueue, "not known"))},
	}
	rows = append(rows, claimRows(c.Claims)...)
	rows = append(rows, c.Locations...)
	rows = append(rows, []string{"verdict", strings.ToUpper(c.Verdict) + ": " + strings.TrimSuffix(c.Reason, ".")})
	fmt.Fprintf(&out, "\n%s\n%s", text.Indent(text.Columns(rows), " "), rule)
	return text.Visible(out.String())
}

// total is the time of all steps, without the mistakes.
func (c Summary) total() float64 {
	var total float64
	for _, step := range c.Steps {
		total += step.Seconds
	}
	return total
}

// why is a row below a result that tells what is wrong, in the given column.
func (r Result) why(column int) [][]string {
	if r.Why == "" || r.Why == notAskedFor || r.Why == endedBefore {
		return nil
	}
	return [][]string{append(make([]string, column), "  "+text.Shorten(strings.TrimPrefix(strings.TrimPrefix(r.Why, NotPassed+": "), NotDone+": ")))}
}

func (r Result) seconds() string {
	if r.State == notRun {
		return ""
	}
	return fmt.Sprintf("%7.1f", r.Seconds)
}
