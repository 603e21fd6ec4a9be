package ownership

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// Remove deletes JobSets of the lab's namespace, those very ones and none that was
// made anew under the same name meanwhile, and waits until nothing of them is left:
// no Job, no pod, and no Workload that still holds quota.
func Remove(ctx context.Context, w *cluster.Cluster, jobSets []jobsetv1.JobSet) error {
	if len(jobSets) == 0 {
		return nil
	}
	for i := range jobSets {
		err := w.Persist(ctx, func(ctx context.Context) error {
			return client.IgnoreNotFound(w.API.Delete(ctx, &jobSets[i], client.PropagationPolicy(metav1.DeletePropagationBackground),
				client.Preconditions{UID: &jobSets[i].UID}))
		})
		if apierrors.IsConflict(err) {
			return fmt.Errorf("JobSet %s was deleted and made anew by somebody else meanwhile, so it was left as it is: %w", jobSets[i].Name, err)
		}
		if err != nil {
			return fmt.Errorf("deleting JobSet %s: %w", jobSets[i].Name, err)
		}
	}
	names := namesOf(jobSets)
	var left []string
	var blind error
	gone := true
	started := time.Now()
	g := gomega.NewGomega(func(string, ...int) { gone = false })
	g.Eventually(ctx, func(ctx context.Context) ([]string, error) {
		left, blind = leftOf(ctx, w, names)
		return left, blind
	}).Should(gomega.BeEmpty())
	switch {
	case gone:
		return nil
	case blind != nil:
		return fmt.Errorf("deleting the JobSets %s: %w", strings.Join(names, ", "), blind)
	}
	return fmt.Errorf("the JobSets %s were deleted %.0f s ago and these are still there: %s; look at them with kubectl -n %s describe",
		strings.Join(names, ", "), time.Since(started).Seconds(), strings.Join(left, ", "), w.Pins.Namespace)
}

// leftOf lists what still exists of JobSets, as Kind/name.
func leftOf(ctx context.Context, w *cluster.Cluster, names []string) ([]string, error) {
	ctx, cancel := cluster.Brief(ctx)
	defer cancel()
	var (
		jobSets   jobsetv1.JobSetList
		jobs      batchv1.JobList
		pods      corev1.PodList
		workloads kueuev1.WorkloadList
		services  corev1.ServiceList
		endpoints discoveryv1.EndpointSliceList
	)
	for _, list := range []client.ObjectList{&jobSets, &jobs, &pods, &workloads, &services, &endpoints} {
		if err := w.API.List(ctx, list, client.InNamespace(w.Pins.Namespace)); err != nil {
			return nil, fmt.Errorf("listing %T in namespace %s: %w", list, w.Pins.Namespace, err)
		}
	}
	var left []string
	for _, jobSet := range jobSets.Items {
		if slices.Contains(names, jobSet.Name) {
			left = append(left, "JobSet/"+jobSet.Name)
		}
	}
	for _, job := range jobs.Items {
		if slices.Contains(names, job.Labels[jobsetv1.JobSetNameKey]) {
			left = append(left, "Job/"+job.Name)
		}
	}
	for _, pod := range pods.Items {
		if slices.Contains(names, pod.Labels[jobsetv1.JobSetNameKey]) {
			left = append(left, "Pod/"+pod.Name)
		}
	}
	for _, workload := range workloads.Items {
		owner := metav1.GetControllerOf(&workload)
		if owner == nil {
			continue
		}
		ofJob := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(owner.Name, name+"-") })
		if owner.Kind == "JobSet" && slices.Contains(names, owner.Name) || owner.Kind == "Job" && ofJob {
			left = append(left, "Workload/"+workload.Name)
		}
	}
	for _, service := range services.Items {
		owner := metav1.GetControllerOf(&service)
		if owner != nil && owner.Kind == "JobSet" && slices.Contains(names, owner.Name) {
			left = append(left, "Service/"+service.Name)
		}
	}
	for _, slice := range endpoints.Items {
		// A JobSet's headless Service is called like the JobSet.
		if slices.Contains(names, slice.Labels[discoveryv1.LabelServiceName]) {
			left = append(left, "EndpointSlice/"+slice.Name)
		}
	}
	return left, nil
}

func namesOf(jobSets []jobsetv1.JobSet) []string {
	var names []string
	for _, jobSet := range jobSets {
		names = append(names, jobSet.Name)
	}
	return names
}
