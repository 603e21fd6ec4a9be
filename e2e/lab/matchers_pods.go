package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// HaveRunningPods judges that a JobSet has this many present pods and no more,
// each Running and Ready and with no container ever restarted.
func HaveRunningPods(wanted int) Matcher[JobSet] {
	return func(j JobSet) *Refusal {
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
		which := j.unsteadyWords()
		refusal := refuse(PodsNotRunning, Words{
			KO: fmt.Sprintf("JobSet %s 의 파드 가운데 Running 인 것이 %d개인데, %d개가 모두 Running 이어야 합니다%s.", j.Name, steady, wanted, which.KO),
			EN: fmt.Sprintf("JobSet %s has %d of %d pods Running; all should be%s.", j.Name, steady, wanted, which.EN)})
		switch {
		case len(pods) > wanted:
			refusal = refuse(TooManyPods, tell("JobSet %s 의 파드가 %d개인데, %d개여야 합니다.", "JobSet %s has %d pods; the lab asks for %d.", j.Name, len(pods), wanted))
		case len(pods) == 0 && j.suspended():
			refusal = refuse(JobSetSuspended, tell("JobSet %s 에 파드가 하나도 없고 JobSet 은 멈춰(SUSPENDED) 있는데, 파드 %d개가 모두 Running 이어야 합니다.",
				"JobSet %s has no pod, because it is suspended; the lab wants %d pods Running.", j.Name, wanted))
			if workload := j.Workload(); workload.live != nil {
				refusal.with("QuotaReserved", true, workload.told(kueuev1.WorkloadQuotaReserved))
			}
		}
		refusal.with("pods", wanted, len(pods)).with("pods Running and Ready", wanted, steady)
		for i := range pods {
			if !isSteady(&pods[i]) {
				refusal.with(pods[i].Name, "Running, Ready, never restarted", podState(&pods[i]))
			}
		}
		if refused := j.creationRefused(); refused != "" && len(pods) < wanted {
			refusal.with("pods to be created", "all", refused)
		}
		return refusal
	}
}

// unsteadyWords names the first pod that does not run, in parentheses.
func (j JobSet) unsteadyWords() Words {
	pods := j.Pods().items
	held := map[string]bool{}
	for i := range pods {
		held[rankOf(&pods[i])] = true
		if isSteady(&pods[i]) {
			continue
		}
		if restarts := containerRestarts(&pods[i]); restarts > 0 {
			return tell("(파드 %s: 컨테이너가 %d번 다시 시작됨)", " (pod %s: its container started again, %d times)", pods[i].Name, restarts)
		}
		return tell("(파드 %s: %s)", " (pod %s: %s)", pods[i].Name, statusOf(&pods[i]))
	}
	for _, rank := range j.ranks() {
		if !held[rank] {
			return tell("(%s 자리에 파드가 없음)", " (there is no pod at %s)", rank)
		}
	}
	return Words{}
}

// creationRefused is why a pod, or the Job that would have made it, could last not
// be created.
func (j JobSet) creationRefused() string {
	for _, event := range slices.Backward(j.snapshot.Events) {
		seen, known := j.snapshot.Seen.Of(event.UID)
		if known && seen.JobSet == j.Name && (event.Reason == "FailedCreate" || event.Reason == "JobCreationFailed") {
			return strings.TrimSuffix(event.Message, ".")
		}
	}
	return ""
}

// HaveOnePodPerRank judges that every place in the JobSet (role, Job and
// completion index) is held by exactly one present pod, and that it runs.
func HaveOnePodPerRank() Matcher[JobSet] {
	return func(j JobSet) *Refusal {
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
				return refuse(RankEmpty, tell("JobSet %s 의 %s 자리에 파드가 없는데, 자리마다 파드 하나가 떠 있어야 합니다.",
					"JobSet %s has no pod at %s; there should be one running.", j.Name, rank)).with("pods at "+rank, 1, 0)
			case len(pods) > 1:
				return refuse(RankHeldTwice, tell("JobSet %s 의 %s 자리에 파드가 한꺼번에 %d개 있는데, 자리마다 하나여야 합니다.",
					"JobSet %s has at %s %d pods at once; there should be one.", j.Name, rank, len(pods))).with("pods at "+rank, 1, len(pods))
			case !isSteady(&pods[0]):
				return refuse(PodsNotRunning, tell("JobSet %s 의 %s 자리에 있는 파드가 Running 이 아닙니다(%s).",
					"JobSet %s has a pod at %s that does not run (%s).", j.Name, rank, statusOf(&pods[0]))).
					with(pods[0].Name, "Running, Ready, never restarted", podState(&pods[0]))
			}
		}
		for _, rank := range slices.Sorted(maps.Keys(held)) {
			return refuse(RankUnknown, tell("JobSet %s 의 spec 에 없는 %s 자리에 파드가 있습니다.", "JobSet %s has a pod at %s, a place that its spec does not have.", j.Name, rank)).
				with("pods at "+rank, 0, len(held[rank]))
		}
		return nil
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// roleOf is the replicatedJob that a pod belongs to.
func roleOf(pod *corev1.Pod) string { return pod.Labels[jobsetv1.ReplicatedJobNameKey] }
