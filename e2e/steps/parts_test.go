package steps

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

func Names(all []variation) []string {
	var names []string
	for _, v := range all {
		names = append(names, v.name)
	}
	return names
}

// The parts of a recorded snapshot that variations change. Each panics if there
// is no such part: a variation that varies nothing would prove nothing.

func jobSet(s *snapshot.Snapshot, name string) *jobsetv1.JobSet {
	return the(s.JobSets, "JobSet "+name, func(j *jobsetv1.JobSet) bool { return j.Name == name })
}

func role(s *snapshot.Snapshot, jobSetName, name string) *jobsetv1.ReplicatedJob {
	return the(jobSet(s, jobSetName).Spec.ReplicatedJobs, "role "+name+" in JobSet "+jobSetName,
		func(r *jobsetv1.ReplicatedJob) bool { return r.Name == name })
}

func container(s *snapshot.Snapshot, jobSetName, roleName string) *corev1.Container {
	return &role(s, jobSetName, roleName).Template.Spec.Template.Spec.Containers[0]
}

func pod(s *snapshot.Snapshot, prefix string) *corev1.Pod {
	return the(s.Pods, "pod "+prefix+"…", func(p *corev1.Pod) bool { return strings.HasPrefix(p.Name, prefix) })
}

func job(s *snapshot.Snapshot, name string) *batchv1.Job {
	return the(s.Jobs, "Job "+name, func(j *batchv1.Job) bool { return j.Name == name })
}

// workload is that of the owner, which is a JobSet, Job or pod.
func workload(s *snapshot.Snapshot, owner string) *kueuev1.Workload {
	return the(s.Workloads, "Workload of "+owner, func(w *kueuev1.Workload) bool {
		return strings.HasPrefix(w.OwnerReferences[0].Name, owner)
	})
}

// former is a pod that the history knows and that is gone.
func former(s *snapshot.Snapshot, prefix string) *snapshot.ObjectHistory {
	return the(s.Seen.Objects, "former pod "+prefix+"…", func(seen *snapshot.ObjectHistory) bool {
		return seen.Kind == "Pod" && strings.HasPrefix(seen.Name, prefix) && seen.Reached("Gone")
	})
}

// refusedQuota is the condition in which Kueue tells why a JobSet must wait.
func refusedQuota(s *snapshot.Snapshot, jobSetName string) *metav1.Condition {
	return the(workload(s, jobSetName).Status.Conditions, "verdict on "+jobSetName,
		func(c *metav1.Condition) bool { return c.Type == kueuev1.WorkloadQuotaReserved })
}

func the[T any](all []T, what string, is func(*T) bool) *T {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	panic("no " + what + " in the recorded lab; of a new step, make update records it")
}

// replace changes a file.
func replace(s *snapshot.Snapshot, file, from, to string) {
	changed := strings.ReplaceAll(s.Files[file], from, to)
	if changed == s.Files[file] {
		panic(fmt.Sprintf("%s has no %q", file, from))
	}
	s.Files[file] = changed
}

// drop takes a JobSet away, and its pods.
func drop(s *snapshot.Snapshot, name string) {
	s.JobSets = slices.DeleteFunc(s.JobSets, func(j jobsetv1.JobSet) bool { return j.Name == name })
	dropPods(s, name+"-")
}

func dropPods(s *snapshot.Snapshot, prefix string) {
	s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return strings.HasPrefix(p.Name, prefix) })
}

func dropWorkload(s *snapshot.Snapshot, jobSetName string) {
	gone := workload(s, jobSetName).Name
	s.Workloads = slices.DeleteFunc(s.Workloads, func(w kueuev1.Workload) bool { return w.Name == gone })
}

// workers makes the worker role one Job of n pods.
func workers(s *snapshot.Snapshot, jobSetName string, n int32) {
	spec := &role(s, jobSetName, "worker").Template.Spec
	spec.Parallelism, spec.Completions = &n, &n
}

// waits makes a pod one that the scheduler finds no room for.
func waits(p *corev1.Pod, message string) {
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}}
}

// starting makes a pod one whose container does not run, for this reason.
func starting(p *corev1.Pod, reason, message string) {
	p.Status.Phase, p.Status.Conditions = corev1.PodPending, nil
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// beside adds a copy of a pod under another name, being deleted or not.
func beside(s *snapshot.Snapshot, p *corev1.Pod, name string, terminating bool) *corev1.Pod {
	other := p.DeepCopy()
	other.Name, other.UID = name, "uid-of-"+other.UID
	if terminating {
		other.DeletionTimestamp = &metav1.Time{}
	}
	s.Pods = append(s.Pods, *other)
	return &s.Pods[len(s.Pods)-1]
}

// requests gives the containers of a JobSet requests for cpu and memory.
func requests(s *snapshot.Snapshot, jobSetName string) {
	for _, name := range []string{"leader", "worker"} {
		c := container(s, jobSetName, name)
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		c.Resources.Requests["cpu"], c.Resources.Requests["memory"] = resource.MustParse("10m"), resource.MustParse("16Mi")
	}
}

// coverAll makes the queue one that lends cpu and memory too.
func coverAll(s *snapshot.Snapshot) {
	s.ClusterQueue.Spec.ResourceGroups = append(s.ClusterQueue.Spec.ResourceGroups, kueuev1.ResourceGroup{
		CoveredResources: []corev1.ResourceName{"cpu", "memory"},
		Flavors: []kueuev1.FlavorQuotas{{Name: "default-flavor", Resources: []kueuev1.ResourceQuota{
			{Name: "cpu", NominalQuota: resource.MustParse("8")}, {Name: "memory", NominalQuota: resource.MustParse("16Gi")}}}},
	})
}

// otherWords gives both roles another image, command and container name.
func otherWords(s *snapshot.Snapshot, jobSetName string) {
	for _, name := range []string{"leader", "worker"} {
		c := container(s, jobSetName, name)
		c.Name, c.Image, c.Command = "main", "alpine:3", []string{"tail", "-f", "/dev/null"}
	}
}

// otherWordsInFile does the same in the manifest.
func otherWordsInFile(s *snapshot.Snapshot, file string) {
	replace(s, file, "- name: leader\n              image", "- name: main\n              image")
	replace(s, file, "- name: worker\n              image", "- name: main\n              image")
	replace(s, file, "busybox:1.35.0", "alpine:3")
	replace(s, file, `["sleep", "86400"]`, `[tail, -f, /dev/null]`)
}

// workerFirst puts the roles of a JobSet in the other order.
func workerFirst(s *snapshot.Snapshot, jobSetName string) {
	slices.Reverse(jobSet(s, jobSetName).Spec.ReplicatedJobs)
}

func workerFirstInFile(s *snapshot.Snapshot, file string) {
	head, roles, _ := strings.Cut(s.Files[file], "  - name: leader\n    replicas")
	leader, worker, found := strings.Cut(roles, "  - name: worker\n    replicas")
	if !found {
		panic(file + " does not have the leader before the worker")
	}
	s.Files[file] = head + "  - name: worker\n    replicas" + worker + "  - name: leader\n    replicas" + leader
}

// asOnWindows gives a file carriage returns, blanks at the ends of lines, and no
// newline at the end.
func asOnWindows(s *snapshot.Snapshot, file string) {
	s.Files[file] = strings.ReplaceAll(strings.TrimSpace(s.Files[file]), "\n", "  \r\n")
}
