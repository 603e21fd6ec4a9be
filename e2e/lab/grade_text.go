package lab

import (
	"fmt"
	"strconv"
)

// String is the grading for a person: a line for each step and, below one that
// is not passed, what is missing.
func (g Grading) String() string {
	var rows [][]string
	count := 0
	for _, grade := range g.Steps {
		mark := "✗"
		if grade.Passed {
			mark = "✓"
			count++
		}
		rows = append(rows, []string{mark, strconv.Itoa(grade.Step), grade.Name, grade.Title})
		if !grade.Passed {
			rows = append(rows, below(grade.KO), below(grade.EN))
		}
		for _, note := range grade.Notes {
			rows = append(rows, below("* "+note.KO), below("* "+note.EN))
		}
	}
	return fmt.Sprintf("\n%s\n\n%d단계 중 %d단계를 통과했습니다. %[3]d of %[2]d passed.", indent(columns(rows), " "),
		len(g.Steps), count)
}

// below is a row that stands under a step's title.
func below(text string) []string { return []string{"", "", "", text} }
