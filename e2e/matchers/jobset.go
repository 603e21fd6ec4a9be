package matchers

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HaveRoles judges that a JobSet has these replicatedJobs and no other, in any
// order.
func HaveRoles(wanted ...string) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		var found []string
		for _, role := range j.Live.Spec.ReplicatedJobs {
			found = append(found, role.Name)
		}
		if slices.Equal(slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(wanted))) {
			return nil
		}
		return newSpecMismatch(RolesWrong, snapshot.TextOf("JobSet %s 의 역할이 %s 인데, 실습의 역할은 %s 입니다.", "JobSet %s has the roles %s; the lab asks for %s.",
			j.Name, text.List(found), text.List(wanted))).
			Row("replicatedJobs", text.List(wanted), text.List(found))
	}
}

// HaveOneJobOf judges that a role is one Job of this many pods.
func HaveOneJobOf(pods int32) Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		job := r.Fields.Template.Spec
		if job.Completions == nil && ptr.Deref(job.CompletionMode, batchv1.IndexedCompletion) == batchv1.IndexedCompletion {
			// JobSet's default is Indexed, and the API server takes no such Job without completions.
			return newSpecMismatch(CompletionsMissing, snapshot.TextOf("JobSet %s 의 %s 역할에 완료해야 할 파드 수가 적혀 있지 않아 Job 이 만들어지지 않습니다.",
				"JobSet %s has a role %s that does not say how many pods must complete, so its Job cannot be made.", r.Of.Name, r.Name)).
				Row("completions (pods in all)", pods, "none")
		}
		parallelism := ptr.Deref(job.Parallelism, 1)
		completions := ptr.Deref(job.Completions, parallelism)
		if r.Fields.Replicas == 1 && parallelism == pods && completions == pods {
			return nil
		}
		found := snapshot.Text{KO: fmt.Sprintf("Job %d벌, 파드 %d개", r.Fields.Replicas, parallelism), EN: jobsOf(r.Fields.Replicas, parallelism)}
		if parallelism != completions {
			found.KO = fmt.Sprintf("Job %d벌, 파드가 동시에 %d개씩 모두 %d개", r.Fields.Replicas, parallelism, completions)
			found.EN += fmt.Sprintf(" at once and %d in all", completions)
		}
		if r.Fields.Replicas > 1 && parallelism == completions {
			found.KO += "씩"
		}
		return newSpecMismatch(PodCountWrong, snapshot.Text{
			KO: fmt.Sprintf("JobSet %s 의 %s 역할이 %s인데, Job 1벌, 파드 %d개여야 합니다.", r.Of.Name, r.Name, found.KO, pods),
			EN: fmt.Sprintf("JobSet %s has %s in role %s; the lab asks for 1 Job of %d.", r.Of.Name, found.EN, r.Name, pods)}).
			Row("replicas (Jobs)", 1, r.Fields.Replicas).
			Row("parallelism (pods at once)", pods, parallelism).
			Row("completions (pods in all)", pods, completions)
	}
}

// AskForGPUs judges how many GPUs each pod of a role asks for.
func AskForGPUs(wanted int64) Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		resource := r.Of.Snapshot.GPUResource
		for _, container := range r.Fields.Template.Spec.Template.Spec.Containers {
			requested, limited := container.Resources.Requests[corev1.ResourceName(resource)], container.Resources.Limits[corev1.ResourceName(resource)]
			// The API server takes no pod, and no Job, that asks for one otherwise.
			if !requested.IsZero() && requested.Cmp(limited) != 0 {
				return newSpecMismatch(GPUInRequestsOnly, snapshot.TextOf("JobSet %s 의 %s 역할이 GPU 를 requests 에만 적어 두어서 Job 이 만들어지지 않습니다.",
					"JobSet %s has a role %s that names GPUs in its requests alone, so its Job cannot be made.", r.Of.Name, r.Name)).
					Row("limits "+resource, wanted, limited.String()).Row("requests "+resource, "none, or as in limits", requested.String())
			}
		}
		if found := snapshot.GpusOf(r.Fields.Template.Spec.Template.Spec, resource); found != wanted {
			words := snapshot.TextOf("JobSet %s 의 %s 역할은 파드마다 GPU 를 %d장 쓰는데, %d장이어야 합니다.",
				"JobSet %s has a role %s whose pods use %d × GPU each; it should be %d.", r.Of.Name, r.Name, found, wanted)
			if wanted == 0 {
				words = snapshot.TextOf("JobSet %s 의 %s 역할이 GPU 를 쓰는데, 이 단계의 JobSet 에는 GPU 가 없어야 합니다.",
					"JobSet %s has a role %s that uses GPUs; in this step it should use none.", r.Of.Name, r.Name)
			}
			return newSpecMismatch(GPUCountWrong, words).Row(resource+" a pod", wanted, found)
		}
		return nil
	}
}

// hasJob reports whether any Job of the role is there.
func hasJob(r snapshot.ReplicatedJob) bool {
	return slices.ContainsFunc(r.Of.Jobs(), func(job batchv1.Job) bool { return job.Labels[jobsetv1.ReplicatedJobNameKey] == r.Name })
}

// jobDone reports whether a Job of the role is Complete or was ever seen so.
func jobDone(r snapshot.ReplicatedJob) (name string, done bool) {
	for _, job := range r.Of.Jobs() {
		for _, condition := range job.Status.Conditions {
			if job.Labels[jobsetv1.ReplicatedJobNameKey] == r.Name && condition.Type == batchv1.JobComplete &&
				condition.Status == corev1.ConditionTrue {
				return job.Name, true
			}
		}
	}
	for _, job := range r.Of.Snapshot.Seen.Ever("Job", r.Of.Name) {
		if job.Role == r.Name && job.Reached(snapshot.StateComplete) {
			return job.Name, true
		}
	}
	return "", false
}

func jobsOf(jobs, pods int32) string {
	return text.Times(int(jobs), "Job") + " of " + text.Times(int(pods), "pod")
}
