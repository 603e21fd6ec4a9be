package lab

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// absent refuses a Workload that is not there, and says whether Kueue gave one
// to the JobSet's Jobs instead.
func (w Workload) absent() *Refusal {
	if r := w.of.absent(); r != nil {
		return r
	}
	if w.live != nil {
		return nil
	}
	jobs := map[string]bool{}
	for _, job := range w.of.jobs() {
		jobs["Job/"+job.Name] = true
	}
	var lesser []string
	for _, seen := range w.of.snapshot.Seen.Sightings {
		if seen.Kind == "Workload" && jobs[seen.Owner] {
			lesser = append(lesser, seen.Owner)
		}
	}
	refusal := refuse(WorkloadNotFound, tell("JobSet %s 에는 Workload 가 없는데, Kueue 가 Workload 하나로 다루어야 합니다.",
		"JobSet %s has no Workload; Kueue should know it as one Workload.", w.of.Name))
	if len(lesser) > 0 {
		refusal = refuse(WorkloadPerJob, tell("JobSet %s 에는 Workload 가 없고 Job 마다 따로 Workload 가 있는데, 한 덩어리로 입장해야 합니다.",
			"JobSet %s has no Workload and its Jobs have one each; the lab wants it admitted as one.", w.of.Name)).
			with("Workloads owned by its Jobs", "none", strings.Join(lesser, ", "))
	}
	return refusal.with("Workloads owned by "+w.of.Name, 1, 0)
}

// told is a condition of the Workload in Kueue's own words.
func (w Workload) told(kind string) string {
	condition := w.condition(kind)
	if condition == nil {
		return "no such condition"
	}
	return strings.ToLower(string(condition.Status)) + ", " + said(condition.Reason, condition.Message)
}

// Reason is Kueue's message with QuotaReserved=False, empty if it gave none.
func (w Workload) Reason() string {
	reserved := w.condition(kueuev1.WorkloadQuotaReserved)
	if reserved == nil || reserved.Status == metav1.ConditionTrue {
		return ""
	}
	return reserved.Message
}

// state tells what a Workload is for and what Kueue has decided.
func (w Workload) state() string {
	var podSets []string
	for _, podSet := range w.live.Spec.PodSets {
		podSets = append(podSets, fmt.Sprintf("%s × %d", podSet.Name, podSet.Count))
	}
	decided := "no verdict yet"
	switch {
	case w.isNow(kueuev1.WorkloadFinished):
		decided = "finished"
	case w.isNow(kueuev1.WorkloadAdmitted):
		decided = "admitted"
	case w.condition(kueuev1.WorkloadQuotaReserved) != nil:
		decided = "not admitted"
	}
	return list(podSets) + ", " + decided
}

// because is Kueue's reason with QuotaReserved=False, to end a sentence with.
func (w Workload) because() string {
	if w.Reason() == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(said(w.condition(kueuev1.WorkloadQuotaReserved).Reason, w.Reason()), ".")
}

// reasons are all the texts with which Kueue refused the Workload quota: the
// present one first, then those seen before, then those of its events.
func (w Workload) reasons() []string {
	if w.live == nil {
		return nil
	}
	var reasons []string
	if reason := w.Reason(); reason != "" {
		reasons = append(reasons, reason)
	}
	if seen, ok := w.of.snapshot.Seen.Of(w.live.UID); ok {
		for _, text := range seen.Texts(stateNoQuota) {
			_, message, _ := strings.Cut(text, ": ")
			reasons = append(reasons, message)
		}
	}
	for _, event := range w.of.snapshot.Events {
		if event.UID == w.live.UID && event.Reason == "Pending" {
			reasons = append(reasons, event.Message)
		}
	}
	return reasons
}
