package matchers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HaveRunningPods judges that a JobSet has this many present pods and no more, each
// made by one of its Jobs, Running and Ready, and with no container that goes on failing.
// Where roles are named, only their pods count.
func HaveRunningPods(wanted int, roles ...string) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		pods := slices.DeleteFunc(j.Pods().Items, func(pod corev1.Pod) bool {
			return len(roles) > 0 && !slices.Contains(roles, snapshot.RoleOf(&pod))
		})
		if r := madeByItsJobs(j, pods); r != nil {
			return r
		}
		steady := 0
		for i := range pods {
			if j.Snapshot.Runs(&pods[i]) {
				steady++
			}
		}
		if steady == wanted && len(pods) == wanted {
			return nil
		}
		which := whyNotRunningText(j)
		refusal := NewMismatch(PodsNotRunning, snapshot.Text{
			KO: fmt.Sprintf("JobSet %s 의 파드 가운데 Running 인 것이 %d개인데, %d개가 모두 Running 이어야 합니다%s.", j.Name, steady, wanted, which.KO),
			EN: fmt.Sprintf("JobSet %s has %d of %d pods Running; all should be%s.", j.Name, steady, wanted, which.EN)})
		switch {
		case len(pods) > wanted:
			refusal = NewMismatch(TooManyPods, snapshot.TextOf("JobSet %s 의 파드가 %d개인데, %d개여야 합니다.", "JobSet %s has %d pods; the lab asks for %d.", j.Name, len(pods), wanted))
		case len(pods) == 0 && j.Suspended():
			refusal = NewMismatch(JobSetSuspended, snapshot.TextOf("JobSet %s 에 파드가 하나도 없고 JobSet 은 멈춰(SUSPENDED) 있는데, 파드 %d개가 모두 Running 이어야 합니다.",
				"JobSet %s has no pod, because it is suspended; the lab wants %d pods Running.", j.Name, wanted))
			if workload := j.Workload(); workload.Live != nil {
				refusal.Row("QuotaReserved", true, workload.ConditionText(kueuev1.WorkloadQuotaReserved))
			}
		}
		refusal.Row("pods", wanted, len(pods)).Row("pods Running and Ready", wanted, steady)
		for i := range pods {
			if !j.Snapshot.Runs(&pods[i]) {
				refusal.Row(pods[i].Name, "Running, Ready, not failing", snapshot.PodState(&pods[i]))
			}
		}
		if refused := creationRefused(j); refused != "" && len(pods) < wanted {
			refusal.Row("pods to be created", "all", refused)
		}
		return refusal
	}
}

// whyNotRunningText names the first pod that does not run, in parentheses.
func whyNotRunningText(j snapshot.JobSet) snapshot.Text {
	pods := j.Pods().Items
	held := map[string]int{}
	for i := range pods {
		held[snapshot.RankOf(&pods[i])]++
		if j.Snapshot.Runs(&pods[i]) {
			continue
		}
		if restarts := snapshot.ContainerRestarts(&pods[i]); restarts > 0 {
			return snapshot.TextOf("(파드 %s: 컨테이너가 %d번 다시 시작됨)", " (pod %s: its container started again, %d times)", pods[i].Name, restarts)
		}
		return snapshot.TextOf("(파드 %s: %s)", " (pod %s: %s)", pods[i].Name, snapshot.StatusOf(&pods[i]))
	}
	for _, rank := range j.Ranks() {
		if held[rank]--; held[rank] < 0 {
			return snapshot.TextOf("(%s 자리에 파드가 없음)", " (there is no pod at %s)", rank)
		}
	}
	return snapshot.Text{}
}

// madeByItsJobs refuses a pod that carries the JobSet's labels and that none of the
// JobSet's Jobs made, and a Job that the JobSet did not make.
func madeByItsJobs(j snapshot.JobSet, pods []corev1.Pod) *Mismatch {
	made := map[types.UID]bool{}
	for _, job := range j.Jobs() {
		owner := metav1.GetControllerOf(&job)
		if owner == nil || owner.Kind != "JobSet" || owner.UID != j.Live.UID {
			return NewMismatch(JobOfNoJobSet, snapshot.TextOf("JobSet %s 의 라벨이 붙은 Job %s 를 이 JobSet 이 만들지 않았습니다.",
				"Job %[2]s has the labels of JobSet %[1]s, which did not make it.", j.Name, job.Name)).
				Row("owner of "+job.Name, "JobSet/"+j.Name, ownerText(owner))
		}
		made[job.UID] = true
	}
	for i := range pods {
		owner := metav1.GetControllerOf(&pods[i])
		if owner == nil || owner.Kind != "Job" || !made[owner.UID] {
			return NewMismatch(PodOfNoJob, snapshot.TextOf("JobSet %s 의 라벨이 붙은 파드 %s 를 이 JobSet 의 Job 이 만들지 않았습니다.",
				"Pod %[2]s has the labels of JobSet %[1]s, and no Job of that JobSet made it.", j.Name, pods[i].Name)).
				Row("owner of "+pods[i].Name, "a Job of "+j.Name, ownerText(owner))
		}
	}
	return nil
}

func ownerText(owner *metav1.OwnerReference) string {
	if owner == nil {
		return "none"
	}
	return owner.Kind + "/" + owner.Name
}

// creationRefused is why a pod, or the Job that would have made it, could last not
// be created.
func creationRefused(j snapshot.JobSet) string {
	for _, event := range slices.Backward(j.Snapshot.Events) {
		seen, known := j.Snapshot.Seen.Of(event.UID)
		if known && seen.JobSet == j.Name && (event.Reason == "FailedCreate" || event.Reason == "JobCreationFailed") {
			return strings.TrimSuffix(event.Message, ".")
		}
	}
	return ""
}

// HaveOnePodPerRank judges that every place in the JobSet (role, Job and
// completion index) is held by exactly one present pod, and that it runs.
func HaveOnePodPerRank() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if r := madeByItsJobs(j, j.Pods().Items); r != nil {
			return r
		}
		held := map[string][]corev1.Pod{}
		for _, pod := range j.Pods().Items {
			held[snapshot.RankOf(&pod)] = append(held[snapshot.RankOf(&pod)], pod)
		}
		places := map[string]int{}
		for _, rank := range j.Ranks() {
			places[rank]++
		}
		for _, rank := range slices.Compact(j.Ranks()) {
			pods := held[rank]
			delete(held, rank)
			down := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return !j.Snapshot.Runs(&pod) })
			switch {
			case len(pods) < places[rank]:
				return NewMismatch(RankEmpty, snapshot.TextOf("JobSet %s 의 %s 자리에 파드가 없는데, 자리마다 파드 하나가 떠 있어야 합니다.",
					"JobSet %s has no pod at %s; there should be one running.", j.Name, rank)).Row("pods at "+rank, places[rank], len(pods))
			case len(pods) > places[rank]:
				return NewMismatch(RankHeldTwice, snapshot.TextOf("JobSet %s 의 %s 자리에 파드가 한꺼번에 %d개 있는데, 자리마다 하나여야 합니다.",
					"JobSet %s has at %s %d pods at once; there should be one.", j.Name, rank, len(pods))).Row("pods at "+rank, places[rank], len(pods))
			case down >= 0:
				return NewMismatch(PodsNotRunning, snapshot.TextOf("JobSet %s 의 %s 자리에 있는 파드가 Running 이 아닙니다(%s).",
					"JobSet %s has a pod at %s that does not run (%s).", j.Name, rank, snapshot.StatusOf(&pods[down]))).
					Row(pods[down].Name, "Running, Ready, not failing", snapshot.PodState(&pods[down]))
			}
		}
		for _, rank := range slices.Sorted(maps.Keys(held)) {
			return NewMismatch(RankUnknown, snapshot.TextOf("JobSet %s 의 spec 에 없는 %s 자리에 파드가 있습니다.", "JobSet %s has a pod at %s, a place that its spec does not have.", j.Name, rank)).
				Row("pods at "+rank, 0, len(held[rank]))
		}
		return nil
	}
}
