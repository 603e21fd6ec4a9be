package e2e

import (
	"testing"

	"k8s.io/utils/ptr"

	"gsb.test/jobset-e2e/e2e/lab"
)

// interim makes, for a mistake that has no recorded snapshot yet, one of the
// walked lab, with the JobSet under the name that the step asks for.
func interim(t *testing.T, mistake lab.Mistake) *lab.Snapshot {
	t.Helper()
	s := walked(t)
	switch mistake.Name {
	case "fragile-without-backofflimit":
		role(s, "fragile", "worker").Template.Spec.BackoffLimit = nil
		jobSet(s, "fragile").Status.Restarts = 0
		pod(s, "fragile-leader").Labels[attempt] = "0"
		pod(s, "fragile-worker").Labels[attempt] = "0"
	case "train-label-on-job-template":
		jobSet(s, "train").Labels = nil
		for _, name := range []string{"leader", "worker"} {
			role(s, "train", name).Template.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "lq"}
		}
		s.Workloads = s.Workloads[1:]
		jobSet(s, "train").Spec.Suspend = ptr.To(false)
	default:
		return nil
	}
	return s
}
