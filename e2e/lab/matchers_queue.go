package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
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

// HaveOneWorkload judges that the JobSet owns exactly one Workload.
func HaveOneWorkload() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		owned := j.workloads()
		if len(owned) == 1 {
			return nil
		}
		if len(owned) == 0 {
			return j.Workload().absent()
		}
		var names []string
		for _, workload := range owned {
			names = append(names, workload.Name)
		}
		return refuse("JobSet %s owns %d Workloads; the lab wants it admitted as one.", j.Name, len(owned)).
			with("Workloads owned by "+j.Name, 1, strings.Join(names, ", "))
	})
}

// HaveNoWorkload judges that the JobSet owns no Workload and that none it owned
// was ever seen.
func HaveNoWorkload() types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		for _, seen := range j.snapshot.Seen.Ever("Workload", j.Name) {
			return refuse("JobSet %s was not expected to have a Workload, and it has had %s.", j.Name, seen.Name).
				with("Workloads owned by "+j.Name, "none, ever", seen.Name)
		}
		return nil
	})
}

// HaveJobsQueuedOneByOne judges that each of the JobSet's Jobs owns a Workload
// of its own on which Kueue has given its verdict.
func HaveJobsQueuedOneByOne(jobs int) types.GomegaMatcher {
	return judgement(func(j JobSet) *Refusal {
		if r := j.absent(); r != nil {
			return r
		}
		judged := 0
		for _, job := range j.jobs() {
			for _, workload := range j.snapshot.Workloads {
				owner := metav1.GetControllerOf(&workload)
				reserved := meta.FindStatusCondition(workload.Status.Conditions, kueuev1.WorkloadQuotaReserved)
				if owner != nil && owner.UID == job.UID && reserved != nil {
					judged++
				}
			}
		}
		if judged == jobs {
			return nil
		}
		return refuse("Kueue has judged %s of JobSet %s by itself; %d were expected.", times(judged, "Job"), j.Name, jobs).
			with("Jobs with a Workload of their own", jobs, judged)
	})
}

// HavePodSet judges that the Workload has a podSet of this name and count.
func HavePodSet(name string, count int32) types.GomegaMatcher {
	return judgement(func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		var found []string
		for _, podSet := range w.live.Spec.PodSets {
			if string(podSet.Name) == name && podSet.Count == count {
				return nil
			}
			found = append(found, fmt.Sprintf("%s × %d", podSet.Name, podSet.Count))
		}
		return refuse("The Workload of JobSet %s has no podSet %s of %s.", w.of.Name, name, times(int(count), "pod")).
			with("podSets", fmt.Sprintf("%s × %d", name, count), list(found))
	})
}

// HavePodSets judges how many podSets the Workload has.
func HavePodSets(count int) types.GomegaMatcher {
	return judgement(func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		if len(w.live.Spec.PodSets) == count {
			return nil
		}
		return refuse("The Workload of JobSet %s has %s; the lab wants one a role.", w.of.Name,
			times(len(w.live.Spec.PodSets), "podSet")).with("podSets", count, len(w.live.Spec.PodSets))
	})
}

// BeAdmitted judges the Workload by its Admitted condition.
func BeAdmitted() types.GomegaMatcher {
	return judgement(func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		if w.isNow(kueuev1.WorkloadAdmitted) {
			return nil
		}
		return refuse("Kueue has not admitted JobSet %s%s.", w.of.Name, w.because()).
			with("Admitted", true, w.told(kueuev1.WorkloadAdmitted)).
			with("QuotaReserved", true, w.told(kueuev1.WorkloadQuotaReserved))
	})
}

// BeRefusedQuota judges that Kueue has weighed the Workload against the quota
// and reserved none. No condition yet is no verdict.
func BeRefusedQuota() types.GomegaMatcher {
	return judgement(func(w Workload) *Refusal {
		if r := w.absent(); r != nil {
			return r
		}
		reserved := w.condition(kueuev1.WorkloadQuotaReserved)
		switch {
		case w.isNow(kueuev1.WorkloadAdmitted), w.isNow(kueuev1.WorkloadQuotaReserved):
			return refuse("Kueue reserved quota for JobSet %s, which must not fit.", w.of.Name).
				with("QuotaReserved", false, w.told(kueuev1.WorkloadQuotaReserved))
		case reserved == nil:
			return refuse("Kueue has not given its verdict on JobSet %s yet.", w.of.Name).
				with("QuotaReserved", "false, with a reason", "no such condition yet")
		case slices.Contains(noVerdict, reserved.Reason):
			return refuse("Kueue holds JobSet %s back for another reason than its size%s.", w.of.Name, w.because()).
				with("QuotaReserved", "false, because of the quota", w.told(kueuev1.WorkloadQuotaReserved))
		}
		return nil
	})
}

// LendAll judges that the ClusterQueue has reserved and in use exactly this
// much of a resource, and that this is its whole quota.
func LendAll(resource string, wanted int64) types.GomegaMatcher {
	return judgement(func(q Queue) *Refusal {
		if q.live == nil {
			return refuse("There is no ClusterQueue for the lab's LocalQueue to lead to.")
		}
		quota, reserved, used := q.quota(resource), usage(q.live.Status.FlavorsReservation, resource), usage(q.live.Status.FlavorsUsage, resource)
		if quota == wanted && reserved == wanted && used == wanted {
			return nil
		}
		return refuse("ClusterQueue %s lends %d of %d %s; the lab wants %d of %d.", q.live.Name, used, quota, resource, wanted, wanted).
			with("nominalQuota", wanted, quota).with("reserved", wanted, reserved).with("in use", wanted, used)
	})
}

func (q Queue) quota(resource string) int64 {
	var total int64
	for _, group := range q.live.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			for _, r := range flavor.Resources {
				if string(r.Name) == resource {
					total += r.NominalQuota.Value()
				}
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
