package ownership

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// Going holds what is deleted before the first step, and therefore is in nobody's
// way: JobSets of the lab's namespace, with their Jobs and the pods of those. They
// are what an earlier run of this suite left and, with --fresh, all JobSets there.
type Going map[types.UID]bool

// SurveyGoing reads what goes, and names the JobSets that are not ours.
func SurveyGoing(ctx context.Context, w *cluster.Cluster) (goes Going, others []string, err error) {
	var (
		jobSets jobsetv1.JobSetList
		jobs    batchv1.JobList
		pods    corev1.PodList
	)
	for _, list := range []client.ObjectList{&jobSets, &jobs, &pods} {
		if err := w.API.List(ctx, list, client.InNamespace(w.Pins.Namespace)); err != nil {
			return nil, nil, err
		}
	}
	goes = Going{}
	for _, jobSet := range jobSets.Items {
		ours := appliedByUs(&jobSet)
		if !ours {
			others = append(others, jobSet.Name)
		}
		goes[jobSet.UID] = ours || w.Settings.Fresh
	}
	// By who made whom, and by UID: a label or a name can be anybody's.
	for _, job := range jobs.Items {
		goes[job.UID] = goes.Made(&job)
	}
	for _, pod := range pods.Items {
		goes[pod.UID] = goes.Made(&pod)
	}
	return goes, others, nil
}

// Made reports whether an object was made by, and goes with, something that goes.
func (g Going) Made(object client.Object) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && g[owner.UID]
}

// Some reports whether anything goes.
func (g Going) Some() bool {
	for _, goes := range g {
		if goes {
			return true
		}
	}
	return false
}
