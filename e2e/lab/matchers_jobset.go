package lab

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// HaveRoles judges that a JobSet has these replicatedJobs and no other, in any
// order.
func HaveRoles(wanted ...string) Matcher[JobSet] {
	return func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		var found []string
		for _, role := range j.live.Spec.ReplicatedJobs {
			found = append(found, role.Name)
		}
		if slices.Equal(slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(wanted))) {
			return nil
		}
		return refuse(RolesWrong, tell("JobSet %s 의 역할이 %s 인데, 실습의 역할은 %s 입니다.", "JobSet %s has the roles %s; the lab asks for %s.",
			j.Name, list(found), list(wanted))).
			with("replicatedJobs", list(wanted), list(found))
	}
}

// HaveOneJobOf judges that a role is one Job of this many pods.
func HaveOneJobOf(pods int32) Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		job := r.fields.Template.Spec
		if job.Completions == nil && ptr.Deref(job.CompletionMode, batchv1.IndexedCompletion) == batchv1.IndexedCompletion {
			// JobSet's default is Indexed, and the API server takes no such Job without completions.
			return refuse(CompletionsMissing, tell("JobSet %s 의 %s 역할에 완료해야 할 파드 수가 적혀 있지 않아 Job 이 만들어지지 않습니다.",
				"JobSet %s has a role %s that does not say how many pods must complete, so its Job cannot be made.", r.of.Name, r.Name)).
				with("completions (pods in all)", pods, "none")
		}
		parallelism := ptr.Deref(job.Parallelism, 1)
		completions := ptr.Deref(job.Completions, parallelism)
		if r.fields.Replicas == 1 && parallelism == pods && completions == pods {
			return nil
		}
		found := Words{KO: fmt.Sprintf("Job %d벌, 파드 %d개", r.fields.Replicas, parallelism), EN: jobsOf(r.fields.Replicas, parallelism)}
		if parallelism != completions {
			found.KO = fmt.Sprintf("Job %d벌, 파드가 동시에 %d개씩 모두 %d개", r.fields.Replicas, parallelism, completions)
			found.EN += fmt.Sprintf(" at once and %d in all", completions)
		}
		if r.fields.Replicas > 1 && parallelism == completions {
			found.KO += "씩"
		}
		return refuse(PodCountWrong, Words{
			KO: fmt.Sprintf("JobSet %s 의 %s 역할이 %s인데, Job 1벌, 파드 %d개여야 합니다.", r.of.Name, r.Name, found.KO, pods),
			EN: fmt.Sprintf("JobSet %s has %s in role %s; the lab asks for 1 Job of %d.", r.of.Name, found.EN, r.Name, pods)}).
			with("replicas (Jobs)", 1, r.fields.Replicas).
			with("parallelism (pods at once)", pods, parallelism).
			with("completions (pods in all)", pods, completions)
	}
}

// AskForGPUs judges how many GPUs each pod of a role asks for.
func AskForGPUs(wanted int64) Matcher[ReplicatedJob] {
	return func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		resource := r.of.snapshot.GPUResource
		for _, container := range r.fields.Template.Spec.Template.Spec.Containers {
			requested, limited := container.Resources.Requests[corev1.ResourceName(resource)], container.Resources.Limits[corev1.ResourceName(resource)]
			// The API server takes no pod, and no Job, that asks for one otherwise.
			if !requested.IsZero() && requested.Cmp(limited) != 0 {
				return refuse(GPUInRequestsOnly, tell("JobSet %s 의 %s 역할이 GPU 를 requests 에만 적어 두어서 Job 이 만들어지지 않습니다.",
					"JobSet %s has a role %s that names GPUs in its requests alone, so its Job cannot be made.", r.of.Name, r.Name)).
					with("limits "+resource, wanted, limited.String()).with("requests "+resource, "none, or as in limits", requested.String())
			}
		}
		if found := gpusOf(r.fields.Template.Spec.Template.Spec, resource); found != wanted {
			words := tell("JobSet %s 의 %s 역할은 파드마다 GPU 를 %d장 쓰는데, %d장이어야 합니다.",
				"JobSet %s has a role %s whose pods use %d × GPU each; it should be %d.", r.of.Name, r.Name, found, wanted)
			if wanted == 0 {
				words = tell("JobSet %s 의 %s 역할이 GPU 를 쓰는데, 이 단계의 JobSet 에는 GPU 가 없어야 합니다.",
					"JobSet %s has a role %s that uses GPUs; in this step it should use none.", r.of.Name, r.Name)
			}
			return refuse(GPUCountWrong, words).with(resource+" a pod", wanted, found)
		}
		return nil
	}
}

// gpusOf sums the GPUs of a pod's containers. An extended resource's request
// equals its limit and may be left out.
func gpusOf(pod corev1.PodSpec, resource string) int64 {
	var total int64
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		amount, ok := container.Resources.Limits[corev1.ResourceName(resource)]
		if !ok {
			amount = container.Resources.Requests[corev1.ResourceName(resource)]
		}
		total += amount.Value()
	}
	return total
}

// hasJob tells whether any Job of the role is there.
func (r ReplicatedJob) hasJob() bool {
	return slices.ContainsFunc(r.of.jobs(), func(job batchv1.Job) bool { return job.Labels[jobsetv1.ReplicatedJobNameKey] == r.Name })
}

// jobDone tells whether a Job of the role is Complete or was ever seen so.
func (r ReplicatedJob) jobDone() (name string, done bool) {
	for _, job := range r.of.jobs() {
		for _, condition := range job.Status.Conditions {
			if job.Labels[jobsetv1.ReplicatedJobNameKey] == r.Name && condition.Type == batchv1.JobComplete &&
				condition.Status == corev1.ConditionTrue {
				return job.Name, true
			}
		}
	}
	for _, job := range r.of.snapshot.Seen.Ever("Job", r.of.Name) {
		if job.Role == r.Name && job.Was(stateComplete) {
			return job.Name, true
		}
	}
	return "", false
}

func jobsOf(jobs, pods int32) string {
	return times(int(jobs), "Job") + " of " + times(int(pods), "pod")
}

func times(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
