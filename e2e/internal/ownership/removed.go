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
// are what an earlier run of this suite left and, with --fresh, all JobSets there. What
// a JobSet left that is deleted already goes too: the garbage collector is a moment behind.
type Going struct {
	namespace string
	goes      map[types.UID]bool // of all JobSets, Jobs and pods of the namespace
}

// SurveyGoing reads what goes, and names the JobSets that are not ours.
func SurveyGoing(ctx context.Context, w *cluster.Cluster) (going Going, others []string, err error) {
	var (
		jobSets jobsetv1.JobSetList
		jobs    batchv1.JobList
		pods    corev1.PodList
	)
	for _, list := range []client.ObjectList{&jobSets, &jobs, &pods} {
		if err := w.API.List(ctx, list, client.InNamespace(w.Pins.Namespace)); err != nil {
			return Going{}, nil, err
		}
	}
	going = Going{namespace: w.Pins.Namespace, goes: map[types.UID]bool{}}
	for _, jobSet := range jobSets.Items {
		ours := appliedByUs(&jobSet)
		if !ours {
			others = append(others, jobSet.Name)
		}
		going.goes[jobSet.UID] = ours || w.Settings.Fresh
	}
	// By who made whom, and by UID: a label or a name can be anybody's.
	for _, job := range jobs.Items {
		going.goes[job.UID] = going.Made(&job)
	}
	for _, pod := range pods.Items {
		going.goes[pod.UID] = going.Made(&pod)
	}
	return going, others, nil
}

// Made reports whether an object was made by, and goes with, something that goes.
func (g Going) Made(object client.Object) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	goes, there := g.goes[owner.UID]
	orphaned := !there && object.GetNamespace() == g.namespace && (owner.Kind == "JobSet" || owner.Kind == "Job")
	return goes || orphaned
}

// Some reports whether anything goes.
func (g Going) Some() bool {
	for _, goes := range g.goes {
		if goes {
			return true
		}
	}
	return false
}
