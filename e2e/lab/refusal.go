package lab

import (
	"fmt"
	"strings"
)

// A Code names the kind of a mismatch, a blocker or a finding, like the reason of
// a condition. It stays when the sentence changes.
type Code string

// A Refusal is why a Matcher does not hold: its code, one sentence in Korean and
// in English, and what was wanted and found, side by side. The sentences say what
// is seen and what the lab text asks for, in the lab text's own terms, and not
// what to type: they are shown to the learner whose work is judged. A nil Refusal
// means that the Matcher holds.
type Refusal struct {
	Code Code `json:"code"`
	Words
	Rows []Row `json:"rows,omitempty"`
	// Open marks a result that a client which only reads cannot decide. It is
	// reported as a note and refuses nothing.
	Open bool `json:"-"`
}

// A Row sets one thing that the lab wants beside what was found.
type Row struct {
	What   string `json:"what"`
	Wanted string `json:"wanted"`
	Found  string `json:"found"`
}

// Words are one sentence in Korean and in English.
type Words struct {
	KO string `json:"ko,omitempty"`
	EN string `json:"en"`
}

// tell fills both sentences with the same values.
func tell(ko, en string, values ...any) Words {
	return Words{KO: fmt.Sprintf(ko, values...), EN: fmt.Sprintf(en, values...)}
}

// refuse makes the Refusal of a matcher that judges a learner's work.
func refuse(code Code, words Words) *Refusal { return &Refusal{Code: code, Words: words} }

// unlike makes the Refusal of a matcher that only mistakes use. It judges the
// cluster and not a learner's work, so it needs no Korean sentence.
func unlike(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Words: Words{EN: fmt.Sprintf(format, args...)}}
}

func (r *Refusal) with(what string, wanted, found any) *Refusal {
	r.Rows = append(r.Rows, Row{What: what, Wanted: fmt.Sprint(wanted), Found: fmt.Sprint(found)})
	return r
}

// String renders the English sentence and, below it, the rows in aligned columns.
func (r *Refusal) String() string {
	if r == nil {
		return ""
	}
	if len(r.Rows) == 0 {
		return r.EN
	}
	cells := [][]string{{"", "wanted", "found"}}
	for _, row := range r.Rows {
		if displayWidth(row.Wanted) > widestBeside {
			return r.EN + "\n\n" + indent(r.below(), "  ")
		}
		cells = append(cells, []string{row.What, row.Wanted, row.Found})
	}
	return r.EN + "\n\n" + indent(columns(cells), "  ")
}

// widestBeside is how wide a wanted value may be, in columns of the terminal, to
// stand beside the found one.
const widestBeside = 60

// below renders the rows with the found value below the wanted one.
func (r *Refusal) below() string {
	var cells [][]string
	for _, row := range r.Rows {
		cells = append(cells, []string{row.What, "wanted", row.Wanted}, []string{"", "found", row.Found})
	}
	return columns(cells)
}

// firstLine is the first line of a longer message.
func firstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return line
}
