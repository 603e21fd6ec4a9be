package matchers

import (
	"slices"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Matcher judges a T of a snapshot: nil if it holds, else why it does not.
type Matcher[T any] func(T) *Mismatch

// A Check collects what does not hold of one snapshot, in the order in which it
// was asked for.
type Check struct {
	// Mismatches are the results of matchers that do not hold; the first comes first.
	Mismatches []*Mismatch
	// Inconclusive are the results that a client which only reads cannot decide.
	Inconclusive []*Mismatch
}

// Expect asks whether a matcher holds. What does not is collected, and the Check
// goes on: one that needs what is missing says the same once more, and that is
// kept once.
func Expect[T any](c *Check, actual T, matcher Matcher[T]) {
	mismatch := matcher(actual)
	switch {
	case mismatch == nil:
	case mismatch.Inconclusive:
		c.Inconclusive = append(c.Inconclusive, mismatch)
	case !slices.ContainsFunc(c.Mismatches, func(other *Mismatch) bool { return other.Code == mismatch.Code && other.EN == mismatch.EN }):
		c.Mismatches = append(c.Mismatches, mismatch)
	}
}

// First is the first result that refuses; nil if every matcher holds.
func (c *Check) First() *Mismatch {
	if len(c.Mismatches) == 0 {
		return nil
	}
	return c.Mismatches[0]
}

// HaveWorkload judges the Workload that a JobSet owns.
func HaveWorkload(matcher Matcher[snapshot.Workload]) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch { return matcher(j.Workload()) }
}
