package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// HaveRunningPods judges that a JobSet has this many present pods and no more,
// each Running and Ready and with no container ever restarted.
func HaveRunningPods(wanted int) types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		pods := j.Pods().items
		steady := 0
		for i := range pods {
			if isSteady(&pods[i]) {
				steady++
			}
		}
		if steady == wanted && len(pods) == wanted {
			return nil
		}
		refusal := refuse("JobSet %s has %s Running and Ready; the lab wants %d%s.", j.Name, times(steady, "pod"), wanted, j.whyUnsteady())
		switch {
		case len(pods) > wanted:
			refusal = refuse("JobSet %s has %s; the lab wants %d.", j.Name, times(len(pods), "pod"), wanted)
		case len(pods) == 0 && j.suspended():
			refusal = refuse("JobSet %s has no pod, because it is suspended%s; the lab wants %s running.", j.Name,
				j.Workload().because(), times(wanted, "pod"))
		}
		refusal.with("pods", wanted, len(pods)).with("pods Running and Ready", wanted, steady)
		for i := range pods {
			if !isSteady(&pods[i]) {
				refusal.with(pods[i].Name, "Running, Ready, never restarted", podState(&pods[i]))
			}
		}
		return refusal
	})
}

// whyUnsteady tells of the first pod that does not run, to end a sentence with.
func (j JobSet) whyUnsteady() string {
	pods := j.Pods().items
	held := map[string]bool{}
	for i := range pods {
		held[rankOf(&pods[i])] = true
		if !isSteady(&pods[i]) {
			return fmt.Sprintf(": %s is %s", pods[i].Name, strings.TrimSuffix(podState(&pods[i]), "."))
		}
	}
	for _, rank := range j.ranks() {
		if !held[rank] {
			return ": there is no pod at rank " + rank + j.creationRefused()
		}
	}
	return ""
}

// creationRefused is why a pod, or the Job that would have made it, could last not
// be created.
func (j JobSet) creationRefused() string {
	for _, event := range slices.Backward(j.snapshot.Events) {
		seen, known := j.snapshot.Seen.Of(event.UID)
		if known && seen.JobSet == j.Name && (event.Reason == "FailedCreate" || event.Reason == "JobCreationFailed") {
			return ": " + strings.TrimSuffix(event.Message, ".")
		}
	}
	return ""
}

// HaveOnePodPerRank judges that every place in the JobSet (role, Job and
// completion index) is held by exactly one present pod, and that it runs.
func HaveOnePodPerRank() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		held := map[string][]corev1.Pod{}
		for _, pod := range j.Pods().items {
			held[rankOf(&pod)] = append(held[rankOf(&pod)], pod)
		}
		for _, rank := range j.ranks() {
			pods := held[rank]
			delete(held, rank)
			switch {
			case len(pods) == 0:
				return refuse("No pod of JobSet %s holds rank %s.", j.Name, rank).with("pods at "+rank, 1, 0)
			case len(pods) > 1:
				return refuse("%d pods of JobSet %s hold rank %s at once.", len(pods), j.Name, rank).with("pods at "+rank, 1, len(pods))
			case !isSteady(&pods[0]):
				return refuse("The pod of JobSet %s at rank %s does not run: it is %s.", j.Name, rank, podState(&pods[0])).
					with(pods[0].Name, "Running, Ready, never restarted", podState(&pods[0]))
			}
		}
		for _, rank := range slices.Sorted(maps.Keys(held)) {
			return refuse("JobSet %s has a pod at rank %s, which its spec does not have.", j.Name, rank).
				with("pods at "+rank, 0, len(held[rank]))
		}
		return nil
	})
}

// AllBeOfAttempt judges that every present pod belongs to this restart attempt
// and did not already live in another one.
func AllBeOfAttempt(wanted int) types.GomegaMatcher {
	return judgement(func(p Pods) *Refusal {
		if r := p.of.absent(); r != nil {
			return r
		}
		if len(p.items) == 0 {
			return refuse("JobSet %s has no pod, so none of attempt %d.", p.of.Name, wanted).with("pods", "at least 1", 0)
		}
		var old []string
		rows := &Refusal{}
		for _, pod := range p.items {
			attempt := pod.Labels[restartAttemptLabel]
			born, seen := p.of.snapshot.Seen.Of(pod.UID)
			switch {
			case attempt != fmt.Sprint(wanted):
				old = append(old, pod.Name)
				rows.with("restart-attempt of "+pod.Name, wanted, orNone(attempt))
			case seen && born.Attempt != attempt:
				old = append(old, pod.Name)
				rows.with("restart-attempt of "+pod.Name, fmt.Sprintf("%d from the start", wanted),
					fmt.Sprintf("%s when it was first seen (the same UID)", orNone(born.Attempt)))
			}
		}
		if len(old) == 0 {
			return nil
		}
		rows.Sentence = fmt.Sprintf("JobSet %s is at restart attempt %d, but %s of another one: %s.",
			p.of.Name, wanted, isAre(len(old), "pod"), strings.Join(old, ", "))
		return rows
	})
}

// HaveNeverHadAPod judges, by all that was seen since before the step and by
// the Job controller's events, that no pod of the JobSet ever existed.
func HaveNeverHadAPod() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		pods := map[string]string{}
		for _, pod := range j.snapshot.Seen.Ever("Pod", j.Name) {
			pods[pod.Name] = fmt.Sprintf("first seen at +%.1fs", pod.Moments[0].At)
			if pod.Was(stateGone) {
				pods[pod.Name] += ", gone since"
			}
		}
		for _, pod := range j.allPods() {
			if pods[pod.Name] == "" || pod.DeletionTimestamp == nil {
				pods[pod.Name] = podState(&pod)
			}
		}
		if len(pods) == 0 {
			pods = j.podsCreatedByEvents()
		}
		if len(pods) == 0 {
			return nil
		}
		refusal := refuse("JobSet %s must not start a single pod, and %s seen.", j.Name, wasWere(len(pods), "pod"))
		refusal.with("pods ever seen", 0, len(pods))
		for _, name := range slices.Sorted(maps.Keys(pods)) {
			refusal.with(name, "never there", pods[name])
		}
		return refusal
	})
}

// podsCreatedByEvents finds the pods that Jobs of the JobSet tell of having
// created. Events outlive a pod, so they speak where nobody watched.
func (j JobSet) podsCreatedByEvents() map[string]string {
	created := map[string]string{}
	for _, event := range j.snapshot.Events {
		job, known := j.snapshot.Seen.Of(event.UID)
		if known && job.Kind == "Job" && job.JobSet == j.Name && event.Reason == "SuccessfulCreate" {
			created[event.Object] = fmt.Sprintf("event %s: %s", event.Reason, event.Message)
		}
	}
	return created
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

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func isAre(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return fmt.Sprintf("%d %ss are", n, thing)
}

func wasWere(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return fmt.Sprintf("%d %ss were", n, thing)
}

// roleOf is the replicatedJob that a pod belongs to.
func roleOf(pod *corev1.Pod) string { return pod.Labels[jobsetv1.ReplicatedJobNameKey] }
