package snapshot

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

func Active(conditions []metav1.Condition) string {
	condition := meta.FindStatusCondition(conditions, kueuev1.ClusterQueueActive)
	switch {
	case condition == nil:
		return "Kueue has not looked at it yet"
	case condition.Status != metav1.ConditionTrue:
		return "it is not Active: " + text.ReasonAndMessage(condition.Reason, condition.Message)
	}
	return ""
}

// ConditionText is a condition of the Workload in Kueue's own words.
func (w Workload) ConditionText(kind string) string {
	condition := w.Condition(kind)
	if condition == nil {
		return "no such condition"
	}
	return strings.ToLower(string(condition.Status)) + ", " + text.ReasonAndMessage(condition.Reason, condition.Message)
}

// Reason is Kueue's message with QuotaReserved=False, empty if it gave none.
func (w Workload) Reason() string {
	reserved := w.Condition(kueuev1.WorkloadQuotaReserved)
	if reserved == nil || reserved.Status == metav1.ConditionTrue {
		return ""
	}
	return reserved.Message
}

// State tells what a Workload is for and what Kueue has decided.
func (w Workload) State() string {
	var podSets []string
	for _, podSet := range w.Live.Spec.PodSets {
		podSets = append(podSets, fmt.Sprintf("%s × %d", podSet.Name, podSet.Count))
	}
	decided := "no verdict yet"
	switch {
	case w.IsNow(kueuev1.WorkloadFinished):
		decided = "finished"
	case w.IsNow(kueuev1.WorkloadAdmitted):
		decided = "admitted"
	case w.Condition(kueuev1.WorkloadQuotaReserved) != nil:
		decided = "not admitted"
	}
	return text.List(podSets) + ", " + decided
}

// Because is Kueue's reason with QuotaReserved=False, to end a sentence with.
func (w Workload) Because() string {
	if w.Reason() == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(text.ReasonAndMessage(w.Condition(kueuev1.WorkloadQuotaReserved).Reason, w.Reason()), ".")
}

// Reasons are all the texts with which Kueue refused the Workload quota: the
// present one first, then those seen before, then those of its events.
func (w Workload) Reasons() []string {
	if w.Live == nil {
		return nil
	}
	var reasons []string
	if reason := w.Reason(); reason != "" {
		reasons = append(reasons, reason)
	}
	if seen, ok := w.Of.Snapshot.Seen.Of(w.Live.UID); ok {
		for _, text := range seen.Texts(stateNoQuota) {
			_, message, _ := strings.Cut(text, ": ")
			reasons = append(reasons, message)
		}
	}
	for _, event := range w.Of.Snapshot.Events {
		if event.UID == w.Live.UID && event.Reason == "Pending" {
			reasons = append(reasons, event.Message)
		}
	}
	return reasons
}
