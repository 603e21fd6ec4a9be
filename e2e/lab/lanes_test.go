package lab

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMistakesOfOneJobSetOrOfGPUsAreMadeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	mistakes := []Mistake{{Name: "a", JobSet: "hello"}, {Name: "b", JobSet: "train"}, {Name: "c", JobSet: "hello"}, {Name: "d", JobSet: "big"},
		{Name: "e", JobSet: "eval"}, {Name: "f", JobSet: "train"}}
	gpus := map[string]bool{"b": true, "d": true} // f asks for none, and its JobSet is in the way of b's

	var names []string
	for _, lane := range apart(mistakes, func(m Mistake) bool { return gpus[m.Name] }) {
		so := ""
		for _, m := range lane {
			so += m.Name
		}
		names = append(names, so)
	}
	g.Expect(names).To(Equal([]string{"ac", "bdf", "e"}))
}

// What a learner does outside of a spec must end where it fails, as in a spec.
func TestAnAttemptEndsWhereTheLearnerFails(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	a := &attempt{}
	me := &Learner{attempt: a}
	message := a.record(func() {
		me.by("first")
		me.stop("the API server is away")
		me.by("never")
	})
	g.Expect(message).To(Equal("the API server is away"))
	g.Expect(a.failed).NotTo(BeNil())
	g.Expect(a.actions).To(Equal([]string{"first"}))

	passed := &attempt{}
	g.Expect(passed.record(func() {})).To(BeEmpty())
	g.Expect(passed.failed).To(BeNil())

	broken := &attempt{}
	broken.record(func() { panic("a bug") })
	g.Expect(broken.failed).To(PanicWith("a bug"), "Ginkgo reports it in the mistake's own spec")
}
