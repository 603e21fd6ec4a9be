package lab

import (
	"fmt"
	"strings"

	"github.com/onsi/gomega/types"
)

// A Refusal is why a judgement does not hold. For a lab author: the verdict in
// one sentence, then what was wanted and what was found, side by side. For the
// learner whose work is judged: one sentence in each language. A nil Refusal
// means that the judgement holds.
type Refusal struct {
	Sentence string
	Rows     []Row
	Words    Words
	// Open tells that nothing is refused: a client that only reads could not see
	// what this judgement asks for, so it was left out.
	Open bool
}

// A Row sets one thing that the lab wants beside what there is.
type Row struct {
	What, Wanted, Found string
}

// Words are one sentence for a learner, in Korean and in English. They say what
// is seen and what the lab text asks for, in the lab text's own terms, and not
// what to type.
type Words struct {
	KO string `json:"ko"`
	EN string `json:"en"`
}

// tell fills both sentences with the same values.
func tell(ko, en string, values ...any) Words {
	values = shownAll(values)
	return Words{KO: fmt.Sprintf(ko, values...), EN: fmt.Sprintf(en, values...)}
}

// refuse is how a judgement of a learner's work refuses: never without words for
// the learner.
func refuse(words Words, format string, args ...any) *Refusal {
	return &Refusal{Sentence: fmt.Sprintf(format, shownAll(args)...), Words: words}
}

// unlike is how a judgement refuses that only mistakes use. It judges what the
// cluster does and not a learner's work, so no learner is told of it.
func unlike(format string, args ...any) *Refusal {
	return &Refusal{Sentence: fmt.Sprintf(format, shownAll(args)...)}
}

func (r *Refusal) with(what string, wanted, found any) *Refusal {
	r.Rows = append(r.Rows, Row{What: what, Wanted: fmt.Sprint(wanted), Found: fmt.Sprint(found)})
	return r
}

// String renders the sentence and, below it, the rows in aligned columns: side by side
// where the values are short. Of no Refusal there is nothing to render.
func (r *Refusal) String() string {
	if r == nil {
		return ""
	}
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
func judgement[T any](judge func(T) *Refusal) types.GomegaMatcher { return judging[T](judge) }

// judging is the matcher of a judgement. The text of its failure is the refusal
// and nothing else. There is no good sentence for a judgement turned round, so
// NotTo says only that.
type judging[T any] func(T) *Refusal

// refusal judges whatever an expectation is about. The error tells of one that
// is about another thing than the judgement.
func (judge judging[T]) refusal(actual any) (*Refusal, error) {
	of, ok := actual.(T)
	if !ok {
		return nil, fmt.Errorf("this judges a %T and not a %T", of, actual)
	}
	return judge(of), nil
}

func (judge judging[T]) Match(actual any) (bool, error) {
	refusal, err := judge.refusal(actual)
	return err == nil && (refusal == nil || refusal.Open), err
}

func (judge judging[T]) FailureMessage(actual any) string {
	refusal, err := judge.refusal(actual)
	if err != nil {
		return err.Error()
	}
	return refusal.String()
}

func (judge judging[T]) NegatedFailureMessage(any) string {
	return "This was expected not to hold, and it holds."
}

// firstLine is the verdict sentence of a longer message.
func firstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return line
}
