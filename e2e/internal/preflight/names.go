package preflight

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// collectTaken finds Jobs and Services that stand where a JobSet of the steps makes its own:
// kubectl delete --cascade=orphan leaves them, or somebody made a Service by hand.
func collectTaken(ctx context.Context, w *cluster.Cluster, facts *Facts) error {
	var (
		jobs     batchv1.JobList
		services corev1.ServiceList
	)
	for _, list := range []client.ObjectList{&jobs, &services} {
		if err := w.API.List(ctx, list, client.InNamespace(w.Pins.Namespace)); err != nil {
			return err
		}
	}
	take := func(kind string, object client.Object, made func(jobSet string) bool) {
		for _, jobSet := range admission.JobSetsOfSteps() {
			if made(jobSet) && metav1.GetControllerOf(object) == nil && object.GetDeletionTimestamp() == nil && !facts.going.Made(object) {
				facts.Interference.Taken = append(facts.Interference.Taken, kind+"/"+object.GetName())
			}
		}
	}
	for i := range jobs.Items {
		take("job", &jobs.Items[i], func(jobSet string) bool {
			return strings.HasPrefix(jobs.Items[i].Name, jobSet+"-leader-") || strings.HasPrefix(jobs.Items[i].Name, jobSet+"-worker-")
		})
	}
	for i := range services.Items {
		take("service", &services.Items[i], func(jobSet string) bool { return services.Items[i].Name == jobSet })
	}
	return nil
}

// namesFree judges whether what the JobSets of the steps make has its names for itself.
func namesFree(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "names", Message: "no Job or Service stands where a step makes its own"}
	if taken := facts.Interference.Taken; len(taken) > 0 {
		finding.Code = PartsOrphaned
		finding.Message = fmt.Sprintf("%s has what a JobSet of the steps would make itself, and no JobSet made it: %s", pins.Namespace, text.List(taken))
		finding.Fix = fmt.Sprintf("kubectl -n %s delete %s, if nobody needs it", pins.Namespace, strings.Join(taken, " "))
	}
	return finding
}
