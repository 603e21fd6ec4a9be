package ownership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/fixtures"
)

// TearDown ends the run's stay in a lab that may be somebody's: the JobSets that it
// applied go, with all that hangs on them, and its files leave a work directory
// that was named for it. KEEP=1 leaves both, to be looked at or graded. A JobSet
// that somebody changed meanwhile is theirs, and stays.
func TearDown(ctx context.Context, w *cluster.Cluster) error {
	if w.Settings.Keep {
		w.LeftInLab = "the run's JobSets, as KEEP=1 asks; the next run takes them away"
		if w.Settings.LabEnds {
			w.LeftInLab = "the run's JobSets; the lab itself is removed after the run"
		}
		return nil
	}
	w.LeftInLab = "what the run made may still be there; " + HowToRemove(w)
	ours, others, err := JobSets(ctx, w)
	if err != nil {
		return err
	}
	ofThisRun := func(jobSet jobsetv1.JobSet) bool { return jobSet.Annotations[fixtures.RunAnnotation] == w.Settings.Run }
	ours = slices.DeleteFunc(ours, func(jobSet jobsetv1.JobSet) bool { return !ofThisRun(jobSet) })
	if err := Remove(ctx, w, ours); err != nil {
		return err
	}
	if err := collectFiles(w); err != nil {
		return err
	}
	w.LeftInLab = "nothing of this run; KEEP=1 leaves the JobSets there"
	changed := slices.DeleteFunc(others, func(jobSet jobsetv1.JobSet) bool { return !ofThisRun(jobSet) })
	if names := namesOf(changed); len(names) > 0 {
		w.LeftInLab = fmt.Sprintf("JobSets of this run that somebody else changed meanwhile: %s; if nobody needs them: kubectl -n %s delete jobset %s",
			strings.Join(names, ", "), w.Pins.Namespace, strings.Join(names, " "))
	}
	return nil
}

// RemoveApplied deletes the JobSet of a name that this run applied, if there is one.
func RemoveApplied(ctx context.Context, w *cluster.Cluster, name string) error {
	ours, others, err := JobSets(ctx, w)
	if err != nil {
		return err
	}
	of := func(jobSets []jobsetv1.JobSet) []jobsetv1.JobSet {
		return slices.DeleteFunc(jobSets, func(jobSet jobsetv1.JobSet) bool {
			return jobSet.Name != name || jobSet.Annotations[fixtures.RunAnnotation] != w.Settings.Run
		})
	}
	if len(of(others)) > 0 {
		return fmt.Errorf("JobSet %s was changed by somebody else while the run went on, so it was left as it is; "+
			"if nobody needs it: kubectl -n %s delete jobset %s", name, w.Pins.Namespace, name)
	}
	return Remove(ctx, w, of(ours))
}

// HowToRemove says what to type to be rid of what a run leaves.
func HowToRemove(w *cluster.Cluster) string {
	return fmt.Sprintf("the next run takes it away, and so does: kubectl -n %s delete jobset --ignore-not-found %s",
		w.Pins.Namespace, strings.Join(w.Settings.JobSets, " "))
}
