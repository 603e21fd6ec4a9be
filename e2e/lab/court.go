package lab

import (
	"fmt"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// refusalOf runs a Check and returns the first judgement that does not hold, as
// itself and not as its text; nil if all hold. Beside it are the judgements that
// were left open up to there.
func refusalOf(check func(g gomega.Gomega)) (refusal *Refusal, open []*Refusal) {
	defer func() {
		if caught := recover(); caught != nil {
			stop, ours := caught.(refused)
			if !ours {
				panic(caught)
			}
			refusal = stop.refusal
		}
	}()
	check(court{gomega.NewGomega(func(message string, _ ...int) { panic(foreign + message) }), &open})
	return nil, open
}

// judged is the text of refusalOf's refusal, empty if there is none.
func judged(check func(g gomega.Gomega)) string {
	refusal, _ := refusalOf(check)
	return refusal.String()
}

// foreign is what is wrong with a Check that asserts in another way.
const foreign = "a Check says g.Expect(…).To(…) with a judgement of package lab, and this one says otherwise: "

// refused carries a Refusal out of a Check.
type refused struct{ refusal *Refusal }

// A court is the Gomega that a Check is run with.
type court struct {
	gomega.Gomega
	open *[]*Refusal
}

// Expect begins a claim about what is judged.
func (c court) Expect(actual any, extra ...any) types.Assertion {
	return claim{c.Gomega.Expect(actual, extra...), actual, c.open}
}

// A claim is one expectation of a Check.
type claim struct {
	types.Assertion
	actual any
	open   *[]*Refusal
}

// To ends the Check where the judgement refuses. Another matcher than a judgement
// is a mistake in the Check and panics, whether it would hold or not: it has no
// words for a learner.
func (c claim) To(matcher types.GomegaMatcher, _ ...any) bool {
	judge, ours := matcher.(interface{ refusal(any) (*Refusal, error) })
	if !ours {
		panic(fmt.Sprintf("%s%T", foreign, matcher))
	}
	refusal, err := judge.refusal(c.actual)
	switch {
	case err != nil:
		panic(foreign + err.Error())
	case refusal == nil:
		return true
	case refusal.Open:
		*c.open = append(*c.open, refusal)
		return true
	}
	panic(refused{refusal})
}
