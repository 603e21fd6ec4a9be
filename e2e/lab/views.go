package lab

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	batchv1 "k8s.io/api/batch/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// A JobSet is one JobSet of a Snapshot, by name, whether it exists or not.
type JobSet struct {
	Name     string
	live     *jobsetv1.JobSet
	snapshot *Snapshot
}

// A ReplicatedJob is one role of a JobSet, whether it exists or not.
type ReplicatedJob struct {
	Name   string
	of     JobSet
	fields *jobsetv1.ReplicatedJob
}

// Pods are the present pods of a JobSet: those not being deleted.
type Pods struct {
	of    JobSet
	items []corev1.Pod
}

// A Workload is the Workload that a JobSet owns, whether it exists or not.
type Workload struct {
	of   JobSet
	live *kueuev1.Workload
}

// A Queue is the lab's ClusterQueue, whether it exists or not.
type Queue struct {
	live *kueuev1.ClusterQueue
}

// Restarts is the JobSet's own count, 0 if there is no such JobSet.
func (j JobSet) Restarts() int {
	if j.live == nil {
		return 0
	}
	return int(j.live.Status.Restarts)
}

// ReplicatedJob returns one role by name.
func (j JobSet) ReplicatedJob(name string) ReplicatedJob {
	role := ReplicatedJob{Name: name, of: j}
	if j.live != nil {
		for i := range j.live.Spec.ReplicatedJobs {
			if j.live.Spec.ReplicatedJobs[i].Name == name {
				role.fields = &j.live.Spec.ReplicatedJobs[i]
			}
		}
	}
	return role
}

// Pods returns the JobSet's present pods, in order of rank.
func (j JobSet) Pods() Pods {
	pods := Pods{of: j}
	for _, pod := range j.allPods() {
		if pod.DeletionTimestamp == nil {
			pods.items = append(pods.items, pod)
		}
	}
	return pods
}

// allPods includes those that are being deleted.
func (j JobSet) allPods() []corev1.Pod {
	var pods []corev1.Pod
	for _, pod := range j.snapshot.Pods {
		if pod.Labels[jobsetv1.JobSetNameKey] == j.Name {
			pods = append(pods, pod)
		}
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(rankOf(&a)+a.Name, rankOf(&b)+b.Name) })
	return pods
}

// pod returns the present pod of a role and a completion index, nil if none.
func (j JobSet) pod(role, index string) *corev1.Pod {
	pods := j.Pods().items
	for i := range pods {
		if pods[i].Labels[jobsetv1.ReplicatedJobNameKey] == role &&
			pods[i].Labels[batchv1.JobCompletionIndexAnnotation] == index {
			return &pods[i]
		}
	}
	return nil
}

func (j JobSet) jobs() []batchv1.Job {
	var jobs []batchv1.Job
	for _, job := range j.snapshot.Jobs {
		if job.Labels[jobsetv1.JobSetNameKey] == j.Name {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Workload returns the JobSet's own Workload; the judgement HaveOneWorkload
// tells whether it is the only one.
func (j JobSet) Workload() Workload {
	view := Workload{of: j}
	if owned := j.workloads(); len(owned) > 0 {
		view.live = &owned[0]
	}
	return view
}

// workloads are those that the JobSet owns. Their names are Kueue's affair.
func (j JobSet) workloads() []kueuev1.Workload {
	var owned []kueuev1.Workload
	if j.live == nil {
		return nil
	}
	for _, workload := range j.snapshot.Workloads {
		owner := metav1.GetControllerOf(&workload)
		if owner != nil && owner.Kind == "JobSet" && owner.UID == j.live.UID {
			owned = append(owned, workload)
		}
	}
	return owned
}

func (j JobSet) queue() string { return j.live.Labels[kueueconstants.QueueLabel] }

func (j JobSet) suspended() bool {
	return j.live != nil && j.live.Spec.Suspend != nil && *j.live.Spec.Suspend
}

// condition returns a condition of the JobSet, nil if it has none of that type.
func (j JobSet) condition(kind jobsetv1.JobSetConditionType) *metav1.Condition {
	if j.live == nil {
		return nil
	}
	return meta.FindStatusCondition(j.live.Status.Conditions, string(kind))
}

func (j JobSet) isNow(kind jobsetv1.JobSetConditionType) bool {
	condition := j.condition(kind)
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// condition returns a condition of the Workload, nil if it has none of that type.
func (w Workload) condition(kind string) *metav1.Condition {
	if w.live == nil {
		return nil
	}
	return meta.FindStatusCondition(w.live.Status.Conditions, kind)
}

func (w Workload) isNow(kind string) bool {
	condition := w.condition(kind)
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// ranks lists every place in the JobSet, by its spec.
func (j JobSet) ranks() []string {
	var ranks []string
	for _, role := range j.live.Spec.ReplicatedJobs {
		pods := min(ptr.Deref(role.Template.Spec.Parallelism, 1), ptr.Deref(role.Template.Spec.Completions, 1<<30))
		for job := range role.Replicas {
			for index := range pods {
				ranks = append(ranks, fmt.Sprintf("%s-%d-%d", role.Name, job, index))
			}
		}
	}
	return ranks
}
