package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// A Course is the lab: its steps in order, and the mistakes that learners make in them.
type Course struct {
	Steps    []Step
	Mistakes []Mistake
	// Probes are the specs that only claims of the lab text need.
	Probes []Probe
}

// Files names the files that the steps ask for, each once, in alphabetical order.
func (c Course) Files() []string {
	var names []string
	for _, step := range c.Steps {
		names = append(names, step.Files...)
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}

// JobSets names the JobSets that the steps are about, each once, in alphabetical order.
func (c Course) JobSets() []string {
	var names []string
	for _, step := range c.Steps {
		names = append(names, step.JobSets...)
	}
	slices.SortFunc(names, strings.Compare)
	return slices.Compact(names)
}

// A Plan is what a run is asked to do of a course.
type Plan struct {
	Course
	// Asked are the steps to be judged; First are those that are only done
	// because an asked one needs them. Both are in order.
	Asked, First []Step
	// Whole says that every step was asked for.
	Whole bool
}

// Plan chooses from all steps by the value of LAB_STEP: nothing means all of
// them, else one step by its number or name.
func (c Course) Plan(wanted string) (Plan, error) {
	if wanted == "" {
		return Plan{Course: c, Asked: c.Steps, Whole: true}, nil
	}
	at := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Name == wanted || strconv.Itoa(s.Number) == wanted })
	if at < 0 {
		return Plan{}, fmt.Errorf("STEP=%s is none of the lab's steps. They are:\n%s\n"+
			"Give one number or one name, such as STEP=4 or STEP=fragile, or leave STEP out for all", wanted, text.Indent(Listing(c.Steps), "  "))
	}
	plan := Plan{Course: c, Asked: []Step{c.Steps[at]}}
	for _, step := range c.Steps {
		if step.Number != c.Steps[at].Number && c.needed(c.Steps[at], step.Number) {
			plan.First = append(plan.First, step)
		}
	}
	return plan, nil
}

// needed reports whether a step needs another one, itself or through a third.
func (c Course) needed(step Step, number int) bool {
	for _, other := range c.Steps {
		if slices.Contains(step.Needs, other.Number) && (other.Number == number || c.needed(other, number)) {
			return true
		}
	}
	return false
}

// Items are the steps and the mistakes as a report lists them.
func (p Plan) Items() report.Items {
	items := report.Items{Whole: p.Whole}
	for _, step := range p.Steps {
		item := report.Item{Label: fmt.Sprintf("%s%d", report.StepLabel, step.Number), Number: step.Number, Name: step.Name, Title: step.Title}
		item.Asked, item.First = holds(p.Asked, step.Number), holds(p.First, step.Number)
		items.Steps = append(items.Steps, item)
	}
	if p.Whole {
		for _, mistake := range p.Mistakes {
			items.Mistakes = append(items.Mistakes, report.Item{Label: report.MistakeLabel + mistake.Name, Number: mistake.Step, Name: mistake.Name, Title: mistake.Symptom,
				Reported: !mistake.InText})
		}
	}
	for _, probe := range p.Probes {
		items.Probes = append(items.Probes, report.Item{Label: report.ProbeLabel + probe.Name, Number: probe.Step, Name: probe.Name,
			Asked: p.Whole || holds(p.Asked, probe.Step)})
	}
	return items
}

// Listing lists steps, one a line: number, name, title.
func Listing(steps []Step) string {
	var rows [][]string
	for _, step := range steps {
		rows = append(rows, []string{strconv.Itoa(step.Number), step.Name, step.Title})
	}
	return text.Columns(rows)
}
