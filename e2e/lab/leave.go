package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Leave ends the walk's stay in a lab that may be somebody's: the JobSets that it
// applied go, with all that hangs on them, and its files leave a work directory
// that was named for it. KEEP=1 leaves both, to be looked at or graded.
func (w *World) Leave(ctx context.Context) error {
	if w.Settings.Keep {
		w.left = "the walk's JobSets, as KEEP=1 asks; the next run takes them away"
		return nil
	}
	w.left = "what the walk made may still be there; " + w.howToRemove()
	ours, _, err := w.jobSets(ctx)
	if err != nil {
		return err
	}
	if err := w.remove(ctx, ours); err != nil {
		return err
	}
	if err := w.takeHome(); err != nil {
		return err
	}
	w.left = "nothing of this run; KEEP=1 leaves the JobSets there"
	return nil
}

// howToRemove says what to type to be rid of what a walk leaves.
func (w *World) howToRemove() string {
	var names []string
	for _, step := range Steps() {
		names = append(names, step.JobSets...)
	}
	slices.Sort(names)
	return fmt.Sprintf("the next run takes it away, and so does: kubectl -n %s delete jobset --ignore-not-found %s",
		w.Pins.Namespace, strings.Join(slices.Compact(names), " "))
}

// Lies says what of the run lies where, the lab included.
func (w *World) Lies() [][]string {
	var rows [][]string
	if w.Settings.Image != "" {
		rows = append(rows, []string{"image", fmt.Sprintf("%s, in the learner's files where they say %s", w.Settings.Image, shortName(w.Pins.Image))})
	}
	if w.left != "" {
		rows = append(rows, []string{"left in the lab", w.left})
	}
	return append(rows, w.Settings.Lies()...)
}
