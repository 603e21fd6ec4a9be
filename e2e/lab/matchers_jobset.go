package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// HaveRoles judges that a JobSet has these replicatedJobs and no other, in any
// order.
func HaveRoles(wanted ...string) types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
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
		return refuse("JobSet %s has the roles %s; the lab wants %s.", j.Name, list(found), list(wanted)).
			with("replicatedJobs", list(wanted), list(found))
	})
}

// HaveOneJobOf judges that a role is one Job of this many pods.
func HaveOneJobOf(pods int32) types.GomegaMatcher {
	return judgement(func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		job := r.fields.Template.Spec
		if job.Completions == nil && ptr.Deref(job.CompletionMode, batchv1.IndexedCompletion) == batchv1.IndexedCompletion {
			// JobSet's default is Indexed, and the API server takes no such Job without completions.
			return refuse("Role %s of JobSet %s has no completions, and without them its Job cannot be made.", r.Name, r.of.Name).
				with("completions (pods in all)", pods, "none")
		}
		parallelism := ptr.Deref(job.Parallelism, 1)
		completions := ptr.Deref(job.Completions, parallelism)
		if r.fields.Replicas == 1 && parallelism == pods && completions == pods {
			return nil
		}
		refusal := refuse("Role %s of JobSet %s is %s; the lab wants %s.", r.Name, r.of.Name,
			jobsOf(r.fields.Replicas, parallelism), jobsOf(1, pods))
		if parallelism != completions {
			refusal = refuse("Role %s of JobSet %s runs %d of %s at once; the lab wants %s at once.", r.Name, r.of.Name,
				parallelism, times(int(completions), "pod"), times(int(pods), "pod"))
		}
		return refusal.
			with("replicas (Jobs)", 1, r.fields.Replicas).
			with("parallelism (pods at once)", pods, parallelism).
			with("completions (pods in all)", pods, completions)
	})
}

// AskForGPUs judges how many GPUs each pod of a role asks for.
func AskForGPUs(wanted int64) types.GomegaMatcher {
	return judgement(func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		resource := r.of.snapshot.GPUResource
		for _, container := range r.fields.Template.Spec.Template.Spec.Containers {
			requested, limited := container.Resources.Requests[corev1.ResourceName(resource)], container.Resources.Limits[corev1.ResourceName(resource)]
			// The API server takes no pod, and no Job, that asks for one otherwise.
			if !requested.IsZero() && requested.Cmp(limited) != 0 {
				return refuse("Role %s of JobSet %s asks for GPUs in requests and not in limits, and so its Job cannot be made.", r.Name, r.of.Name).
					with("limits "+resource, wanted, limited.String()).with("requests "+resource, "none, or as in limits", requested.String())
			}
		}
		if found := gpusOf(r.fields.Template.Spec.Template.Spec, resource); found != wanted {
			return refuse("Each pod of role %s of JobSet %s asks for %s; the lab wants %s.", r.Name, r.of.Name,
				gpus(found), gpus(wanted)).with(resource+" a pod", wanted, found)
		}
		return nil
	})
}

// HaveBackoffLimit judges a role's Job by its backoffLimit. One that is left
// out is 6: the Job controller's default, which the API server fills in only in
// the Job and not in the JobSet.
func HaveBackoffLimit(wanted int32) types.GomegaMatcher {
	return judgement(func(r ReplicatedJob) *Refusal {
		if refusal := r.absent(); refusal != nil {
			return refusal
		}
		limit := r.fields.Template.Spec.BackoffLimit
		switch {
		case limit == nil:
			return refuse("The %s Job of JobSet %s has no backoffLimit, so the Job replaces a failed pod by itself and the JobSet does not restart.",
				r.Name, r.of.Name).with("backoffLimit", wanted, "none (which means 6)")
		case *limit != wanted:
			return refuse("The %s Job of JobSet %s has backoffLimit %d, so the Job replaces a failed pod by itself before the JobSet restarts.",
				r.Name, r.of.Name, *limit).with("backoffLimit", wanted, *limit)
		}
		return nil
	})
}

// AllowRestarts judges a JobSet by failurePolicy.maxRestarts.
func AllowRestarts(wanted int32) types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		policy := j.live.Spec.FailurePolicy
		switch {
		case policy == nil:
			return refuse("JobSet %s has no failurePolicy, so its first failed Job fails it for good.", j.Name).
				with("failurePolicy.maxRestarts", wanted, "no failurePolicy")
		case policy.MaxRestarts != wanted:
			return refuse("JobSet %s allows %s; the lab wants %d.", j.Name, times(int(policy.MaxRestarts), "restart"), wanted).
				with("failurePolicy.maxRestarts", wanted, policy.MaxRestarts)
		}
		return nil
	})
}

// SucceedWhenAnyOf judges a JobSet by its successPolicy: operator Any over
// exactly this role.
func SucceedWhenAnyOf(role string) types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		policy := j.live.Spec.SuccessPolicy
		if policy == nil {
			policy = &jobsetv1.SuccessPolicy{Operator: jobsetv1.OperatorAll}
		}
		targets := "every role"
		if len(policy.TargetReplicatedJobs) > 0 {
			targets = list(policy.TargetReplicatedJobs)
		}
		if policy.Operator == jobsetv1.OperatorAny && slices.Equal(policy.TargetReplicatedJobs, []string{role}) {
			return nil
		}
		return refuse("JobSet %s does not succeed when any Job of role %s finishes; it succeeds when %s.",
			j.Name, role, jobsThatFinish(policy.Operator, targets)).
			with("successPolicy.operator", jobsetv1.OperatorAny, policy.Operator).
			with("successPolicy.targetReplicatedJobs", role, targets)
	})
}

func jobsThatFinish(operator jobsetv1.Operator, targets string) string {
	if operator == jobsetv1.OperatorAny {
		return "any Job of " + targets + " finishes"
	}
	return "all Jobs of " + targets + " have finished"
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

// absent refuses a JobSet that is not there, and says where one of its name is.
func (j JobSet) absent() *Refusal {
	if j.live != nil {
		return nil
	}
	var present []string
	for _, other := range j.snapshot.JobSets {
		present = append(present, other.Name)
	}
	for _, other := range j.snapshot.Elsewhere {
		if namespace, name, _ := strings.Cut(other, "/"); name == j.Name {
			return refuse("JobSet %s is in namespace %s; the lab wants it in %s.", j.Name, namespace, j.snapshot.Namespace).
				with("namespace", j.snapshot.Namespace, namespace)
		}
	}
	return refuse("There is no JobSet %s in namespace %s.", j.Name, j.snapshot.Namespace).
		with("JobSets in "+j.snapshot.Namespace, j.Name, list(present))
}

func (r ReplicatedJob) absent() *Refusal {
	if refusal := r.of.absent(); refusal != nil {
		return refusal
	}
	if r.fields != nil {
		return nil
	}
	roles := map[string]bool{}
	for _, role := range r.of.live.Spec.ReplicatedJobs {
		roles[role.Name] = true
	}
	return refuse("JobSet %s has no replicatedJob %s.", r.of.Name, r.Name).
		with("replicatedJobs", r.Name, list(slices.Sorted(maps.Keys(roles))))
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

func gpus(n int64) string {
	if n == 0 {
		return "no GPU"
	}
	return times(int(n), "GPU")
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
