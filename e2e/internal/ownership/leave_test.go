package ownership

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// listing is a cluster in which JobSets are listed just as given, since the fake API
// server makes managedFields of its own; it says what is deleted.
func listing(t *testing.T, jobSets ...jobsetv1.JobSet) (w *cluster.Cluster, deleted *[]string) {
	t.Helper()
	deleted = &[]string{}
	return inLab(t, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if found, ok := list.(*jobsetv1.JobSetList); ok {
				for _, jobSet := range jobSets {
					if !slices.Contains(*deleted, jobSet.Name) {
						found.Items = append(found.Items, jobSet)
					}
				}
				return nil
			}
			return c.List(ctx, list, options...)
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
			*deleted = append(*deleted, object.GetName())
			return nil
		}}), deleted
}

// changed is what KEEP=1 left, under another name and of another run.
func changed(t *testing.T, name, run string, change func(*jobsetv1.JobSet)) jobsetv1.JobSet {
	t.Helper()
	jobSet := kept(t)
	jobSet.Name = name
	jobSet.Annotations[fixtures.RunAnnotation] = run
	if change != nil {
		change(jobSet)
	}
	return *jobSet
}

// A run takes with it what it applied itself: not what another run is at work with,
// if the lab was lost to that one, and not what a learner has changed meanwhile.
func TestARunTakesOnlyItsOwnWithIt(t *testing.T) {
	t.Parallel()
	w, deleted := listing(t, changed(t, "hello", "this", nil), changed(t, "eval", "another", nil),
		changed(t, "train", "this", func(j *jobsetv1.JobSet) { j.Labels["mine"] = "yes" }))
	if err := TearDown(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(*deleted, []string{"hello"}) {
		t.Errorf("deleted %v", *deleted)
	}
	if !strings.Contains(w.LeftInLab, "kubectl -n ml delete jobset train") {
		t.Errorf("of train it says %q", w.LeftInLab)
	}
	if err := RemoveApplied(t.Context(), w, "train"); err == nil || !strings.Contains(err.Error(), "was changed by somebody else") {
		t.Errorf("a mistake's cleanup deletes what was changed: %v", err)
	}
	if err := RemoveApplied(t.Context(), w, "eval"); err != nil || len(*deleted) != 1 {
		t.Errorf("a mistake's cleanup deletes what is of another run: %v, %v", *deleted, err)
	}
}

// The next run clears away what any run left that nobody changed.
func TestFreshenTakesWhatEarlierRunsLeft(t *testing.T) {
	t.Parallel()
	w, deleted := listing(t, changed(t, "hello", "earlier", nil), changed(t, "mine", "", nil),
		changed(t, "train", "earlier", func(j *jobsetv1.JobSet) { j.Annotations[snapshot.KubectlApplied] = "{}" }))
	if err := CleanUpPreviousRun(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(*deleted, []string{"hello"}) {
		t.Errorf("deleted %v", *deleted)
	}
}
