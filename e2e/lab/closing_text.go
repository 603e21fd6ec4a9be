package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// String renders the closing block.
func (c Closing) String() string {
	rows := [][]string{{"step", "name", "title", "result", "seconds"}}
	for _, step := range c.Steps {
		rows = append(rows, []string{strconv.Itoa(step.Number), step.Name, step.Title, step.State, step.seconds()})
		rows = append(rows, step.why(2)...)
	}
	var text strings.Builder
	rule := strings.Repeat("─", 78)
	fmt.Fprintf(&text, "%s\n%s\n", rule, indent(columns(rows), " "))
	if len(c.Mistakes) > 0 {
		rows = [][]string{{"mistake of step", "name", "result", "seconds"}}
		for _, mistake := range c.Mistakes {
			rows = append(rows, []string{strconv.Itoa(mistake.Number), mistake.Name, mistake.State, mistake.seconds()})
			rows = append(rows, mistake.why(1)...)
		}
		fmt.Fprintf(&text, "\n%s\n", indent(columns(rows), " "))
	}
	rows = [][]string{
		{"steps took", fmt.Sprintf("%.1f s", c.total())},
		{"versions", fmt.Sprintf("Kubernetes %s, JobSet %s, Kueue %s", or(c.Versions.Kubernetes, "not known"),
			or(c.Versions.JobSet, "not known"), or(c.Versions.Kueue, "not known"))},
	}
	rows = append(rows, c.Lies...)
	rows = append(rows, []string{"verdict", strings.ToUpper(c.Verdict) + ": " + strings.TrimSuffix(c.Reason, ".")})
	fmt.Fprintf(&text, "\n%s\n%s", indent(columns(rows), " "), rule)
	return text.String()
}

// total is the time of all steps, without the mistakes.
func (c Closing) total() float64 {
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
	return [][]string{append(make([]string, column), "  "+shorten(strings.TrimPrefix(strings.TrimPrefix(r.Why, notPassed+": "), notDone+": ")))}
}

func (r Result) seconds() string {
	if r.State == notRun {
		return ""
	}
	return fmt.Sprintf("%7.1f", r.Seconds)
}

func shorten(text string) string {
	if runes := []rune(text); len(runes) > 160 {
		return string(runes[:160]) + "…"
	}
	return text
}
