package lab

import (
	"context"
	"fmt"

	"github.com/onsi/gomega"
)

// A Mistake is one that learners make: what they write, and what the cluster
// then really does. It is done for real, before the walk and in the same
// namespace, and taken away again.
type Mistake struct {
	// Name is the stem of its file in fixtures/mistakes and the name of the
	// JobSet in it.
	Name string
	// Step is the number of the step that it is made in.
	Step int
	// Tells is what the mistake does, in one sentence, as the spec's name.
	Tells string

	// Provoke does what the mistake shows itself by, after the file is applied.
	// It may be nil.
	Provoke func(ctx context.Context, me *Learner)

	// Happens judges what the cluster does. It is polled until it holds, and
	// must go on holding for NeverWithin.
	Happens func(g gomega.Gomega, s *Snapshot)
}

var mistakes []Mistake

// Specs puts the mistake before the walk.
func (m Mistake) Specs() bool {
	mistakes = append(mistakes, m)
	return true
}

// Mistakes returns every mistake, in the order in which they were written.
func Mistakes() []Mistake { return append([]Mistake(nil), mistakes...) }

// Judge checks a snapshot for what the mistake does; see Step.Judge.
func (m Mistake) Judge(snapshot *Snapshot) string {
	return judged(func(g gomega.Gomega) { m.Happens(g, snapshot) })
}

// String is how a mistake is called in a sentence.
func (m Mistake) String() string { return fmt.Sprintf("The mistake %s (step %d)", m.Name, m.Step) }

// Story begins the story of a cluster that does not do what the mistake tells.
func (m Mistake) Story(verdict string, snapshot *Snapshot) Story {
	return Story{Subject: m.String(), Verdict: verdict, JobSets: []string{m.Name}, Snapshot: snapshot}
}
