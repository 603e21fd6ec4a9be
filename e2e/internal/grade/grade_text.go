package grade

import (
	"fmt"
	"strconv"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// String is the grading for a person: what was looked at, a line for each step
// and, below one that is not passed, what is missing.
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
	files := g.WorkDir
	if g.WorkDirMissing {
		files += "  (아직 없습니다, there is none yet)"
	}
	looked := text.Columns([][]string{{"클러스터 cluster", g.Cluster}, {"작업 디렉터리 work directory", files}})
	above := text.Indent(looked, " ")
	for _, note := range g.Notes {
		above += "\n\n" + text.Indent("* "+text.Visible(note.KO)+"\n* "+text.Visible(note.EN), " ")
	}
	return fmt.Sprintf("\n%s\n\n%s\n\n단계 %d개 중 %d개를 통과했습니다. %[4]d of %[3]d passed.",
		above, text.Indent(text.Columns(rows), " "), len(g.Steps), count)
}

// below is a row that stands under a step's title.
func below(text string) []string { return []string{"", "", "", text} }
