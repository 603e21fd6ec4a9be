package matchers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// AllBeOfAttempt judges that every present pod belongs to this restart attempt
// and did not already live in another one.
func AllBeOfAttempt(wanted int) Matcher[snapshot.Pods] {
	return func(p snapshot.Pods) *Mismatch {
		if r := MissingJobSet(p.Of); r != nil {
			return r
		}
		if len(p.Items) == 0 {
			return NewMismatch(NoPod, snapshot.TextOf("JobSet %s 에 떠 있는 파드가 없는데, 새 시도(restart-attempt)의 파드가 떠 있어야 합니다.",
				"JobSet %s has no pod; pods of the new attempt (restart-attempt) should be up.", p.Of.Name)).Row("pods", "at least 1", 0)
		}
		var old []string
		var rows []snapshot.Row
		for _, pod := range p.Items {
			attempt := pod.Labels[snapshot.RestartAttemptLabel]
			born, seen := p.Of.Snapshot.Seen.Of(pod.UID)
			switch {
			case attempt != fmt.Sprint(wanted):
				old = append(old, pod.Name)
				rows = append(rows, snapshot.Row{What: "restart-attempt of " + pod.Name, Wanted: fmt.Sprint(wanted), Found: text.OrNone(attempt)})
			case seen && born.Attempt != attempt:
				old = append(old, pod.Name)
				rows = append(rows, snapshot.Row{What: "restart-attempt of " + pod.Name, Wanted: fmt.Sprintf("%d from the start", wanted),
					Found: fmt.Sprintf("%s when it was first seen (the same UID)", text.OrNone(born.Attempt))})
			}
		}
		if len(old) == 0 {
			return nil
		}
		refusal := NewMismatch(PodOfOtherAttempt, snapshot.TextOf("JobSet %s 의 파드 가운데 %d개가 이전 시도의 파드인데(%s), 떠 있는 파드는 모두 새 시도(restart-attempt)의 파드여야 합니다.",
			"JobSet %s has %d of its pods of another attempt (%s); all that are up should be of the new one (restart-attempt).",
			p.Of.Name, len(old), strings.Join(old, ", ")))
		refusal.Rows = rows
		return refusal
	}
}

// HaveNeverHadAPod judges, by all that was seen since before the step and by
// the Job controller's events, that no pod of the JobSet ever existed.
func HaveNeverHadAPod() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		pods := map[string]string{}
		for _, pod := range j.Snapshot.Seen.Ever("Pod", j.Name) {
			pods[pod.Name] = fmt.Sprintf("first seen at +%.1fs", pod.Transitions[0].At)
			if pod.Reached(snapshot.StateGone) {
				pods[pod.Name] += ", gone since"
			}
		}
		for _, pod := range j.AllPods() {
			if pods[pod.Name] == "" || pod.DeletionTimestamp == nil {
				pods[pod.Name] = snapshot.PodState(&pod)
			}
		}
		if len(pods) == 0 {
			pods = podsCreatedByEvents(j)
		}
		if len(pods) == 0 {
			return nil
		}
		refusal := NewMismatch(PodExisted, snapshot.TextOf("JobSet %s 의 파드가 %d개 떴거나 뜬 적이 있는데, 한 파드도 뜨지 않아야 합니다.",
			"JobSet %s has, or has had, pods (%d of them); not one should start.", j.Name, len(pods)))
		refusal.Row("pods ever seen", 0, len(pods))
		for _, name := range slices.Sorted(maps.Keys(pods)) {
			refusal.Row(name, "never there", pods[name])
		}
		return refusal
	}
}

// podsCreatedByEvents finds the pods that Jobs of the JobSet tell of having
// created. Events outlive a pod, so they speak where nobody watched.
func podsCreatedByEvents(j snapshot.JobSet) map[string]string {
	created := map[string]string{}
	for _, event := range j.Snapshot.Events {
		job, known := j.Snapshot.Seen.Of(event.UID)
		if known && job.Kind == "Job" && job.JobSet == j.Name && event.Reason == "SuccessfulCreate" {
			created[event.Object] = fmt.Sprintf("event %s: %s", event.Reason, event.Message)
		}
	}
	return created
}
