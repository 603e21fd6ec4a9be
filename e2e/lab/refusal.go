package lab

import (
	"fmt"
	"strings"

	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/types"
)

// A Refusal is why a judgement does not hold, in words for a person: the
// verdict in one sentence, then what was wanted and what was found, side by
// side. A nil Refusal means that the judgement holds.
type Refusal struct {
	Sentence string
	Rows     []Row
}

// A Row sets one thing that the lab wants beside what there is.
type Row struct {
	What, Wanted, Found string
}

func refuse(format string, args ...any) *Refusal {
	return &Refusal{Sentence: fmt.Sprintf(format, args...)}
}

func (r *Refusal) with(what string, wanted, found any) *Refusal {
	r.Rows = append(r.Rows, Row{What: what, Wanted: fmt.Sprint(wanted), Found: fmt.Sprint(found)})
	return r
}

// String renders the sentence and, below it, the rows in aligned columns: side by side
// where the values are short.
func (r *Refusal) String() string {
	if len(r.Rows) == 0 {
		return r.Sentence
	}
	cells := [][]string{{"", "wanted", "found"}}
	for _, row := range r.Rows {
		if displayWidth(row.Wanted) > widestBeside {
			return r.Sentence + "\n\n" + indent(r.below(), "  ")
		}
		cells = append(cells, []string{row.What, row.Wanted, row.Found})
	}
	return r.Sentence + "\n\n" + indent(columns(cells), "  ")
}

// widestBeside is how wide a wanted value may be to stand beside the found one.
const widestBeside = 60

// below renders the rows with the found value below the wanted one.
func (r *Refusal) below() string {
	var cells [][]string
	for _, row := range r.Rows {
		cells = append(cells, []string{row.What, "wanted", row.Wanted}, []string{"", "found", row.Found})
	}
	return columns(cells)
}

// judgement makes a matcher of a pure function that says why a T is refused.
// The text of the matcher's failure is the refusal and nothing else. There is
// no good sentence for a judgement turned round, so NotTo says only that.
func judgement[T any](judge func(T) *Refusal) types.GomegaMatcher {
	var refusal *Refusal
	return gcustom.MakeMatcher(func(actual T) (bool, error) {
		refusal = judge(actual)
		return refusal == nil, nil
	}).WithTemplate("{{if .Failure}}{{call .Data}}{{else}}This was expected not to hold, and it holds.{{end}}",
		func() string { return refusal.String() })
}

// firstLine is the verdict sentence of a longer message.
func firstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return line
}
