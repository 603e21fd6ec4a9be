package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AllBeOfAttempt judges that every present pod belongs to this restart attempt
// and did not already live in another one.
func AllBeOfAttempt(wanted int) Matcher[Pods] {
	return func(p Pods) *Refusal {
		if r := p.of.absent(); r != nil {
			return r
		}
		if len(p.items) == 0 {
			return refuse(NoPod, tell("JobSet %s 에 떠 있는 파드가 없는데, 새 시도(restart-attempt)의 파드가 떠 있어야 합니다.",
				"JobSet %s has no pod; pods of the new attempt (restart-attempt) should be up.", p.of.Name)).with("pods", "at least 1", 0)
		}
		var old []string
		var rows []Row
		for _, pod := range p.items {
			attempt := pod.Labels[restartAttemptLabel]
			born, seen := p.of.snapshot.Seen.Of(pod.UID)
			switch {
			case attempt != fmt.Sprint(wanted):
				old = append(old, pod.Name)
				rows = append(rows, Row{"restart-attempt of " + pod.Name, fmt.Sprint(wanted), orNone(attempt)})
			case seen && born.Attempt != attempt:
				old = append(old, pod.Name)
				rows = append(rows, Row{"restart-attempt of " + pod.Name, fmt.Sprintf("%d from the start", wanted),
					fmt.Sprintf("%s when it was first seen (the same UID)", orNone(born.Attempt))})
			}
		}
		if len(old) == 0 {
			return nil
		}
		refusal := refuse(PodOfOtherAttempt, tell("JobSet %s 의 파드 가운데 %d개가 이전 시도의 파드인데(%s), 떠 있는 파드는 모두 새 시도(restart-attempt)의 파드여야 합니다.",
			"JobSet %s has %d of its pods of another attempt (%s); all that are up should be of the new one (restart-attempt).",
			p.of.Name, len(old), strings.Join(old, ", ")))
		refusal.Rows = rows
		return refusal
	}
}

// HaveNeverHadAPod judges, by all that was seen since before the step and by
// the Job controller's events, that no pod of the JobSet ever existed.
func HaveNeverHadAPod() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
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
		refusal := refuse(PodExisted, tell("JobSet %s 의 파드가 %d개 떴거나 뜬 적이 있는데, 한 파드도 뜨지 않아야 합니다.",
			"JobSet %s has, or has had, pods (%d of them); not one should start.", j.Name, len(pods)))
		refusal.with("pods ever seen", 0, len(pods))
		for _, name := range slices.Sorted(maps.Keys(pods)) {
			refusal.with(name, "never there", pods[name])
		}
		return refusal
	}
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
