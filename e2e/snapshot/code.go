package snapshot

import (
	"fmt"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// A Code names the kind of a mismatch, a blocker or a finding, like the reason of
// a condition. It stays when the sentence changes.
type Code string

// A Row sets one thing that the lab wants beside what was found.
type Row struct {
	What   string `json:"what"`
	Wanted string `json:"wanted"`
	Found  string `json:"found"`
}

// A Text is one sentence in Korean and in English.
type Text struct {
	KO string `json:"ko,omitempty"`
	EN string `json:"en"`
}

// TextOf fills both sentences with the same values.
func TextOf(ko, en string, values ...any) Text {
	values = text.ShownAll(values)
	return Text{KO: fmt.Sprintf(ko, values...), EN: fmt.Sprintf(en, values...)}
}
