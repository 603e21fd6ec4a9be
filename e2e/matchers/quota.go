package matchers

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Reasons of QuotaReserved=False with which Kueue says that it has not weighed
// the request against the quota: something in the lab is missing, stopped or
// held back. Any other reason is a verdict on the quota; its name changes from
// version to version (Pending, WaitingForQuota, ExceedsMaxQuota).
var noVerdict = []string{
	kueuev1.WorkloadInadmissible,
	kueuev1.WorkloadOnHold,
	kueuev1.WorkloadAdmissionGated,
	"Waiting", // what v0.19 says for WaitingForPodsReady
	kueuev1.WorkloadQuotaReservedReasonMisconfigured,
	kueuev1.WorkloadQuotaReservedReasonNoMatchingFlavor,
	kueuev1.WorkloadQuotaReservedReasonSuspended,
	kueuev1.WorkloadQuotaReservedReasonPendingEvaluation,
	kueuev1.WorkloadQuotaReservedReasonWaitingForPodsReady,
}

// BeAdmitted judges the Workload by its Admitted condition.
func BeAdmitted() Matcher[snapshot.Workload] {
	return func(w snapshot.Workload) *Mismatch {
		if r := missingWorkload(w); r != nil {
			return r
		}
		if !ptr.Deref(w.Live.Spec.Active, true) {
			return NewMismatch(WorkloadDeactivated, snapshot.TextOf("JobSet %s 의 Workload 가 꺼져 있는데(spec.active 가 false), 입장해 있어야 합니다.",
				"JobSet %s has a Workload that is deactivated (spec.active is false); it should be admitted.", w.Of.Name)).
				Row("Workload spec.active", true, false)
		}
		if w.IsNow(kueuev1.WorkloadAdmitted) {
			return nil
		}
		return NewMismatch(NotAdmitted, snapshot.TextOf("JobSet %s 의 Workload 가 아직 입장하지 못했고, 그 까닭은 Workload 의 조건에 적혀 있습니다.",
			"JobSet %s has not been admitted yet; the conditions of its Workload say why.", w.Of.Name)).
			Row("Admitted", true, w.ConditionText(kueuev1.WorkloadAdmitted)).
			Row("QuotaReserved", true, w.ConditionText(kueuev1.WorkloadQuotaReserved))
	}
}

// BeRefusedQuota judges that Kueue has weighed the Workload against the quota
// and reserved none. No condition yet is no verdict.
func BeRefusedQuota() Matcher[snapshot.Workload] {
	return func(w snapshot.Workload) *Mismatch {
		if r := missingWorkload(w); r != nil {
			return r
		}
		reserved := w.Condition(kueuev1.WorkloadQuotaReserved)
		switch {
		case w.IsNow(kueuev1.WorkloadAdmitted), w.IsNow(kueuev1.WorkloadQuotaReserved):
			return NewMismatch(QuotaReserved, snapshot.TextOf("JobSet %s 에 Kueue 가 쿼터를 내주었는데, 쿼터를 넘어서 입장하지 못해야 합니다.",
				"JobSet %s was given quota by Kueue; it should be over the quota and not be admitted.", w.Of.Name)).
				Row("QuotaReserved", false, w.ConditionText(kueuev1.WorkloadQuotaReserved))
		case reserved == nil:
			return NewMismatch(QuotaUndecided, snapshot.TextOf("JobSet %s 의 Workload 를 Kueue 가 아직 판단하지 않았습니다.", "JobSet %s has a Workload on which Kueue has not decided yet.", w.Of.Name)).
				Row("QuotaReserved", "false, with a reason", "no such condition yet")
		case !ptr.Deref(w.Live.Spec.Active, true):
			return NewMismatch(WorkloadDeactivated, snapshot.TextOf("JobSet %s 의 Workload 가 꺼져 있어서(spec.active 가 false) 기다리는데, 쿼터를 넘어서 기다려야 합니다.",
				"JobSet %s waits because its Workload is deactivated (spec.active is false); it should wait because it is over the quota.", w.Of.Name)).
				Row("Workload spec.active", true, false)
		case slices.Contains(noVerdict, reserved.Reason):
			return NewMismatch(WaitsForOtherReason, snapshot.TextOf("JobSet %s 의 Workload 가 쿼터가 아닌 다른 사유(%s)로 기다리는데, 쿼터를 넘어서 기다려야 합니다.",
				"JobSet %s waits for another reason than the quota (%s); it should wait because it is over the quota.", w.Of.Name, reserved.Reason)).
				Row("QuotaReserved", "false, because of the quota", w.ConditionText(kueuev1.WorkloadQuotaReserved))
		case len(uncovered(w)) > 0:
			return NewMismatch(ResourceNotCovered, snapshot.TextOf("JobSet %s 가 큐에 없는 자원(%s)을 요청해서 기다리는데, 쿼터를 넘어서 기다려야 합니다.",
				"JobSet %s waits because it asks for a resource that the queue does not have (%s); it should wait because it is over the quota.",
				w.Of.Name, text.List(uncovered(w)))).
				Row("resources asked for", "those of the queue", strings.Join(uncovered(w), ", ")+" too")
		case !aboutQuota(reserved.Reason, reserved.Message):
			return NewMismatch(WaitsForOtherReason, snapshot.TextOf("JobSet %s 의 Workload 가 쿼터가 아닌 다른 사유로 기다리는데, 쿼터를 넘어서 기다려야 합니다.",
				"JobSet %s waits for another reason than the quota; it should wait because it is over the quota.", w.Of.Name)).
				Row("QuotaReserved", "false, because of the quota", w.ConditionText(kueuev1.WorkloadQuotaReserved))
		}
		return nil
	}
}

// aboutQuota reports whether Kueue weighed a request against a quota. Its words differ
// by version; all of them name the quota or the capacity, and a taint, a topology or a
// node that is missing they name instead.
func aboutQuota(reason, message string) bool {
	said := strings.ToLower(reason + " " + message)
	return strings.Contains(said, "quota") || strings.Contains(said, "capacity")
}

// uncovered names the resources that the JobSet's pods ask for and the
// ClusterQueue does not cover. Kueue admits no such Workload, and says of it
// what it says of one that is too big.
func uncovered(w snapshot.Workload) []string {
	queue := w.Of.Snapshot.ClusterQueue
	if queue == nil || w.Of.Live == nil {
		return nil
	}
	lacking := map[string]bool{}
	for _, role := range w.Of.Live.Spec.ReplicatedJobs {
		pod := role.Template.Spec.Template.Spec
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			// A limit without a request is a request too.
			for _, asked := range []corev1.ResourceList{container.Resources.Requests, container.Resources.Limits} {
				for resource := range asked {
					if !snapshot.Covers(queue, resource) {
						lacking[string(resource)] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(lacking))
}

// LendAll judges that the ClusterQueue has reserved and in use exactly this
// much of a resource, and that this is its whole quota.
func LendAll(resource string, wanted int64) Matcher[snapshot.Queue] {
	return func(q snapshot.Queue) *Mismatch {
		if q.Live == nil {
			return NewMismatch(ClusterQueueNotFound, snapshot.TextOf("실습의 LocalQueue 가 이어질 ClusterQueue 가 없습니다.", "There is no ClusterQueue for the lab's LocalQueue to lead to."))
		}
		quota, reserved, used := q.Quota(resource), usage(q.Live.Status.FlavorsReservation, resource), usage(q.Live.Status.FlavorsUsage, resource)
		if borrowed := borrowedOf(q.Live.Status.FlavorsReservation, resource); borrowed > 0 {
			return NewMismatch(QuotaBorrowed, snapshot.TextOf("ClusterQueue %s 가 다른 큐의 쿼터 %d장을 빌려 쓰고 있는데, 자기 쿼터 안에서 입장해야 합니다.",
				"ClusterQueue %s has borrowed %d GPUs of another queue's quota; the lab admits within its own.", q.Live.Name, borrowed)).Row("borrowed", 0, borrowed)
		}
		if quota == wanted && reserved == wanted && used == wanted {
			return nil
		}
		return NewMismatch(QuotaNotAllUsed, snapshot.TextOf("ClusterQueue %s 의 쿼터 %d장 가운데 %d장이 쓰이고 있는데, 이 단계에서는 쿼터 %d장이 모두 쓰여야 합니다.",
			"ClusterQueue %s has a quota of %d GPUs and %d in use; in this step all of a quota of %d should be.", q.Live.Name, quota, used, wanted)).
			Row("nominalQuota", wanted, quota).Row("reserved", wanted, reserved).Row("in use", wanted, used)
	}
}

func borrowedOf(flavors []kueuev1.FlavorUsage, resource string) int64 {
	var total int64
	for _, flavor := range flavors {
		for _, r := range flavor.Resources {
			if string(r.Name) == resource {
				total += r.Borrowed.Value()
			}
		}
	}
	return total
}

func usage(flavors []kueuev1.FlavorUsage, resource string) int64 {
	var total int64
	for _, flavor := range flavors {
		for _, r := range flavor.Resources {
			if string(r.Name) == resource {
				total += r.Total.Value()
			}
		}
	}
	return total
}

// LendNothing judges that the ClusterQueue has all of its quota of a resource left.
func LendNothing(resource string, quota int64) Matcher[snapshot.Queue] {
	return func(q snapshot.Queue) *Mismatch {
		if q.Live == nil {
			return NewInternalMismatch(ClusterQueueNotFound, "There is no ClusterQueue for the lab's LocalQueue to lead to.")
		}
		reserved := usage(q.Live.Status.FlavorsReservation, resource)
		if reserved == 0 && q.Quota(resource) == quota {
			return nil
		}
		return NewInternalMismatch(QuotaInUse, "ClusterQueue %s has lent %d of a quota of %d.", q.Live.Name, reserved, q.Quota(resource)).
			Row("quota", quota, q.Quota(resource)).Row("reserved", 0, reserved)
	}
}
