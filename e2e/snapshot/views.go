package snapshot

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"
)

// Admitted names the JobSets that have a queue label and whose own Workload is
// Admitted, in order.
func (s *Snapshot) Admitted() []string {
	var names []string
	for _, live := range s.JobSets {
		j := s.JobSet(live.Name)
		if j.Queue() != "" && j.Workload().IsNow(kueuev1.WorkloadAdmitted) {
			names = append(names, live.Name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// Suspended names the JobSets whose spec.suspend is true, in order.
func (s *Snapshot) Suspended() []string {
	var names []string
	for _, live := range s.JobSets {
		if s.JobSet(live.Name).Suspended() {
			names = append(names, live.Name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// State tells what a JobSet is at, in the words of its columns in kubectl.
func (j JobSet) State() string {
	var words []string
	for _, kind := range []jobsetv1.JobSetConditionType{jobsetv1.JobSetFailed, jobsetv1.JobSetCompleted, jobsetv1.JobSetRestarting} {
		if j.IsNow(kind) {
			words = append(words, fmt.Sprintf("%s (%s)", kind, j.Condition(kind).Reason))
		}
	}
	if j.Suspended() {
		words = append(words, "suspended")
	}
	if len(words) == 0 {
		words = append(words, "active")
	}
	if j.Restarts() > 0 {
		words = append(words, "restarts "+fmt.Sprint(j.Restarts()))
	}
	return strings.Join(slices.Compact(words), ", ")
}

// A JobSet is one JobSet of a Snapshot, by name, whether it exists or not.
type JobSet struct {
	Name     string
	Live     *jobsetv1.JobSet
	Snapshot *Snapshot
}

// A ReplicatedJob is one role of a JobSet, whether it exists or not.
type ReplicatedJob struct {
	Name   string
	Of     JobSet
	Fields *jobsetv1.ReplicatedJob
}

// Pods are the present pods of a JobSet: those that are not being deleted, and are not
// dead with another pod in their place.
type Pods struct {
	Of    JobSet
	Items []corev1.Pod
}

// A Workload is the Workload that a JobSet owns, whether it exists or not.
type Workload struct {
	Of   JobSet
	Live *kueuev1.Workload
}

// A Queue is the lab's ClusterQueue, whether it exists or not.
type Queue struct {
	Live *kueuev1.ClusterQueue
}

// Restarts is the JobSet's own count, 0 if there is no such JobSet.
func (j JobSet) Restarts() int {
	if j.Live == nil {
		return 0
	}
	return int(j.Live.Status.Restarts)
}

// ReplicatedJob returns one role by name.
func (j JobSet) ReplicatedJob(name string) ReplicatedJob {
	role := ReplicatedJob{Name: name, Of: j}
	if j.Live != nil {
		for i := range j.Live.Spec.ReplicatedJobs {
			if j.Live.Spec.ReplicatedJobs[i].Name == name {
				role.Fields = &j.Live.Spec.ReplicatedJobs[i]
			}
		}
	}
	return role
}

// Pods returns the JobSet's present pods, in order of rank. A Job that replaces a pod
// that failed, was evicted or was not admitted keeps the dead one beside the new one.
func (j JobSet) Pods() Pods {
	pods := Pods{Of: j}
	replaced := map[string]bool{}
	all := j.AllPods()
	for i := range all {
		if all[i].DeletionTimestamp == nil && !isDead(&all[i]) {
			replaced[RankOf(&all[i])] = true
		}
	}
	// Of several dead ones in a place that nobody holds, the newest stands for it.
	for i := range slices.Backward(all) {
		pod, rank := &all[i], RankOf(&all[i])
		switch {
		case pod.DeletionTimestamp != nil, isDead(pod) && replaced[rank]:
			continue
		case isDead(pod):
			newest := pod
			for k := range all {
				if RankOf(&all[k]) == rank && all[k].DeletionTimestamp == nil && all[k].CreationTimestamp.After(newest.CreationTimestamp.Time) {
					newest = &all[k]
				}
			}
			pod, replaced[rank] = newest, true
		}
		pods.Items = append(pods.Items, *pod)
	}
	slices.Reverse(pods.Items)
	return pods
}

// AllPods includes those that are being deleted.
func (j JobSet) AllPods() []corev1.Pod {
	var pods []corev1.Pod
	for _, pod := range j.Snapshot.Pods {
		if pod.Labels[jobsetv1.JobSetNameKey] == j.Name {
			pods = append(pods, pod)
		}
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(RankOf(&a)+a.Name, RankOf(&b)+b.Name) })
	return pods
}

// pod returns the present pod of a role and a completion index, nil if none.
func (j JobSet) pod(role, index string) *corev1.Pod {
	pods := j.Pods().Items
	for i := range pods {
		if pods[i].Labels[jobsetv1.ReplicatedJobNameKey] == role &&
			pods[i].Labels[batchv1.JobCompletionIndexAnnotation] == index {
			return &pods[i]
		}
	}
	return nil
}

func (j JobSet) Jobs() []batchv1.Job {
	var jobs []batchv1.Job
	for _, job := range j.Snapshot.Jobs {
		if job.Labels[jobsetv1.JobSetNameKey] == j.Name {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Workload returns the JobSet's own Workload; the judgement HaveOneWorkload
// reports whether it is the only one.
func (j JobSet) Workload() Workload {
	view := Workload{Of: j}
	if owned := j.Workloads(); len(owned) > 0 {
		view.Live = &owned[0]
	}
	return view
}

// Workloads are those that the JobSet owns. Their names are Kueue's affair.
func (j JobSet) Workloads() []kueuev1.Workload {
	var owned []kueuev1.Workload
	if j.Live == nil {
		return nil
	}
	for _, workload := range j.Snapshot.Workloads {
		owner := metav1.GetControllerOf(&workload)
		if owner != nil && owner.Kind == "JobSet" && owner.UID == j.Live.UID {
			owned = append(owned, workload)
		}
	}
	return owned
}

func (j JobSet) Queue() string { return j.Live.Labels[kueueconstants.QueueLabel] }

func (j JobSet) Suspended() bool {
	return j.Live != nil && j.Live.Spec.Suspend != nil && *j.Live.Spec.Suspend
}

// Condition returns a condition of the JobSet, nil if it has none of that type.
func (j JobSet) Condition(kind jobsetv1.JobSetConditionType) *metav1.Condition {
	if j.Live == nil {
		return nil
	}
	return meta.FindStatusCondition(j.Live.Status.Conditions, string(kind))
}

func (j JobSet) IsNow(kind jobsetv1.JobSetConditionType) bool {
	condition := j.Condition(kind)
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// Condition returns a condition of the Workload, nil if it has none of that type.
func (w Workload) Condition(kind string) *metav1.Condition {
	if w.Live == nil {
		return nil
	}
	return meta.FindStatusCondition(w.Live.Status.Conditions, kind)
}

func (w Workload) IsNow(kind string) bool {
	condition := w.Condition(kind)
	return condition != nil && condition.Status == metav1.ConditionTrue
}
