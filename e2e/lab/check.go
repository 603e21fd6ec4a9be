package lab

import "slices"

// A Matcher judges a T of a snapshot: nil if it holds, else why it does not.
type Matcher[T any] func(T) *Refusal

// A Check collects what does not hold of one snapshot, in the order in which it
// was asked for.
type Check struct {
	// Refusals are the results of matchers that do not hold; the first comes first.
	Refusals []*Refusal
	// Open are the results that a client which only reads cannot decide.
	Open []*Refusal
}

// Expect asks whether a matcher holds. What does not is collected, and the Check
// goes on: one that needs what is missing says the same once more, and that is
// kept once.
func Expect[T any](c *Check, actual T, matcher Matcher[T]) {
	refusal := matcher(actual)
	switch {
	case refusal == nil:
	case refusal.Open:
		c.Open = append(c.Open, refusal)
	case !slices.ContainsFunc(c.Refusals, func(other *Refusal) bool { return other.Code == refusal.Code && other.EN == refusal.EN }):
		c.Refusals = append(c.Refusals, refusal)
	}
}

// first is the first result that refuses; nil if every matcher holds.
func (c *Check) first() *Refusal {
	if len(c.Refusals) == 0 {
		return nil
	}
	return c.Refusals[0]
}

// HaveWorkload judges the Workload that a JobSet owns.
func HaveWorkload(matcher Matcher[Workload]) Matcher[JobSet] {
	return func(j JobSet) *Refusal { return matcher(j.Workload()) }
}
