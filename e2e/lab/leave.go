package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/fixtures"
)

// Leave ends the walk's stay in a lab that may be somebody's: the JobSets that it
// applied go, with all that hangs on them, and its files leave a work directory
// that was named for it. KEEP=1 leaves both, to be looked at or graded. A JobSet
// that somebody changed meanwhile is theirs, and stays.
func (w *World) Leave(ctx context.Context) error {
	if w.Settings.Keep {
		w.left = "the walk's JobSets, as KEEP=1 asks; the next run takes them away"
		if w.Settings.LabEnds {
			w.left = "the walk's JobSets; the lab itself is removed after the run"
		}
		return nil
	}
	w.left = "what the walk made may still be there; " + w.howToRemove()
	ours, strangers, err := w.jobSets(ctx)
	if err != nil {
		return err
	}
	ofThisRun := func(jobSet jobsetv1.JobSet) bool { return jobSet.Annotations[fixtures.RunAnnotation] == w.Settings.Run }
	ours = slices.DeleteFunc(ours, func(jobSet jobsetv1.JobSet) bool { return !ofThisRun(jobSet) })
	if err := w.remove(ctx, ours); err != nil {
		return err
	}
	if err := w.takeHome(); err != nil {
		return err
	}
	w.left = "nothing of this run; KEEP=1 leaves the JobSets there"
	changed := slices.DeleteFunc(strangers, func(jobSet jobsetv1.JobSet) bool { return !ofThisRun(jobSet) })
	if names := namesOf(changed); len(names) > 0 {
		w.left = fmt.Sprintf("JobSets of this run that somebody else changed meanwhile: %s; if nobody needs them: kubectl -n %s delete jobset %s",
			strings.Join(names, ", "), w.Pins.Namespace, strings.Join(names, " "))
	}
	return nil
}

// removeApplied deletes the JobSet of a name that this run applied, if there is one.
func (w *World) removeApplied(ctx context.Context, name string) error {
	ours, strangers, err := w.jobSets(ctx)
	if err != nil {
		return err
	}
	of := func(jobSets []jobsetv1.JobSet) []jobsetv1.JobSet {
		return slices.DeleteFunc(jobSets, func(jobSet jobsetv1.JobSet) bool {
			return jobSet.Name != name || jobSet.Annotations[fixtures.RunAnnotation] != w.Settings.Run
		})
	}
	if len(of(strangers)) > 0 {
		return fmt.Errorf("JobSet %s was changed by somebody else while the run went on, so it was left as it is; "+
			"if nobody needs it: kubectl -n %s delete jobset %s", name, w.Pins.Namespace, name)
	}
	return w.remove(ctx, of(ours))
}

// howToRemove says what to type to be rid of what a walk leaves.
func (w *World) howToRemove() string {
	return fmt.Sprintf("the next run takes it away, and so does: kubectl -n %s delete jobset --ignore-not-found %s",
		w.Pins.Namespace, strings.Join(w.Settings.JobSets, " "))
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
