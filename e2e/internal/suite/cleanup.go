package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/fixtures"
)

// Cleanup removes what a run left that did not come to its own end: the files that
// it wrote and that nobody changed since, its JobSets and its Lease. Which run it
// was, its verdict says. The files go even where the cluster does not answer, for
// they are the solutions.
func Cleanup(ctx context.Context, settings settings.Settings) error {
	target := &cluster.Cluster{Settings: settings}
	files := ownership.FileRecordOf(target).Clear(ownership.StepFiles(target))
	verdict, err := report.ReadVerdict(settings)
	if err != nil {
		return errors.Join(files, fmt.Errorf("which run it was that was killed is not known: %w", err))
	}
	settings.Run = verdict.Run
	if target, err = cluster.Connect(settings); err != nil {
		return errors.Join(files, err)
	}
	ours, _, err := ownership.JobSets(ctx, target)
	if err == nil {
		err = ownership.Remove(ctx, target, slices.DeleteFunc(ours, func(jobSet jobsetv1.JobSet) bool {
			return jobSet.Annotations[fixtures.RunAnnotation] != settings.Run
		}))
	}
	return errors.Join(files, err, ownership.Lease(target, "").DropRun(ctx))
}
