// Package matchers says what must be true of a lab: pure functions of a snapshot, each
// typed by what it judges. A step's Check is written with them.
package matchers

import (
	"fmt"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Mismatch is why a Matcher does not hold: its code, one sentence in Korean and
// in English, and what was wanted and found, side by side. The sentences say what
// is seen and what the lab text asks for, in the lab text's own terms, and not
// what to type: they are shown to the learner whose work is judged. A nil Mismatch
// means that the Matcher holds.
type Mismatch struct {
	Code snapshot.Code `json:"code"`
	snapshot.Text
	Rows []snapshot.Row `json:"rows,omitempty"`
	// Inconclusive marks a result that a client which only reads cannot decide. It is
	// reported as a note and refuses nothing.
	Inconclusive bool `json:"-"`
	// OfSpec marks a result about what a JobSet asks for, which no controller changes: no
	// wait for something else to happen heals it.
	OfSpec bool `json:"-"`
}

// NewMismatch makes the Mismatch of a matcher that judges a learner's work.
func NewMismatch(code snapshot.Code, words snapshot.Text) *Mismatch {
	return &Mismatch{Code: code, Text: words}
}

// newSpecMismatch makes the Mismatch of a matcher that judges what a JobSet asks for.
func newSpecMismatch(code snapshot.Code, words snapshot.Text) *Mismatch {
	return &Mismatch{Code: code, Text: words, OfSpec: true}
}

// NewInternalMismatch makes the Mismatch of a matcher that only mistakes use. It judges the
// cluster and not a learner's work, so it needs no Korean sentence.
func NewInternalMismatch(code snapshot.Code, format string, args ...any) *Mismatch {
	return &Mismatch{Code: code, Text: snapshot.Text{EN: fmt.Sprintf(format, text.ShownAll(args)...)}}
}

// Row adds one value that was wanted and the one that was found, and returns the Mismatch.
func (r *Mismatch) Row(what string, wanted, found any) *Mismatch {
	r.Rows = append(r.Rows, snapshot.Row{What: what, Wanted: fmt.Sprint(wanted), Found: fmt.Sprint(found)})
	return r
}

// String renders the English sentence and, below it, the rows in aligned columns.
func (r *Mismatch) String() string {
	if r == nil {
		return ""
	}
	if len(r.Rows) == 0 {
		return r.EN
	}
	cells := [][]string{{"", "wanted", "found"}}
	for _, row := range r.Rows {
		if text.DisplayWidth(row.Wanted) > maxSideBySide {
			return r.EN + "\n\n" + text.Indent(r.stacked(), "  ")
		}
		cells = append(cells, []string{row.What, row.Wanted, row.Found})
	}
	return r.EN + "\n\n" + text.Indent(text.Columns(cells), "  ")
}

// maxSideBySide is how wide a wanted value may be, in columns of the terminal, to
// stand beside the found one.
const maxSideBySide = 60

// stacked renders the rows with the found value below the wanted one.
func (r *Mismatch) stacked() string {
	var cells [][]string
	for _, row := range r.Rows {
		cells = append(cells, []string{row.What, "wanted", row.Wanted}, []string{"", "found", row.Found})
	}
	return text.Columns(cells)
}
