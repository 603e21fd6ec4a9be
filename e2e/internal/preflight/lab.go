package preflight

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

func namespaceClean(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "namespace", Message: pins.Namespace + " holds no JobSet of anybody else's"}
	switch {
	case !facts.HasNamespace:
		finding.Code = NamespaceNotFound
		finding.Message = "there is no namespace " + pins.Namespace
		finding.Fix = remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
		finding.Passes = true
	case len(facts.UnmanagedJobSets) > 0 && facts.Fresh:
		finding.Message = fmt.Sprintf("%s holds JobSets that this suite did not make, and --fresh takes them away: %s",
			pins.Namespace, strings.Join(facts.UnmanagedJobSets, ", "))
	case len(facts.UnmanagedJobSets) > 0:
		finding.Code = UnmanagedJobSets
		finding.Message = fmt.Sprintf("%s holds JobSets that this suite did not make, and it does not replace them: %s",
			pins.Namespace, strings.Join(facts.UnmanagedJobSets, ", "))
		finding.Fix = fmt.Sprintf("kubectl -n %s delete jobset %s, if nobody needs them; --fresh (FRESH=1) does that and moves the learner's files aside", pins.Namespace, strings.Join(facts.UnmanagedJobSets, " "))
	}
	return finding
}

// terminating says why a namespace that is being deleted is still there.
func terminating(namespace *corev1.Namespace) string {
	if namespace.DeletionTimestamp == nil && namespace.Status.Phase != corev1.NamespaceTerminating {
		return ""
	}
	for _, condition := range namespace.Status.Conditions {
		if condition.Status == corev1.ConditionTrue {
			return string(condition.Type) + ": " + condition.Message
		}
	}
	return "what is in it is still being deleted"
}

// namespaceGoes reports a namespace that is being deleted, with what holds it.
func namespaceGoes(facts *Facts, pins fixtures.Pins) Finding {
	fix := fmt.Sprintf("kubectl -n %s get all,jobsets,workloads,configmaps shows what is left; an object with finalizers goes once they are removed (kubectl edit)", pins.Namespace)
	if strings.HasPrefix(facts.Terminating, string(corev1.NamespaceDeletionDiscoveryFailure)) {
		fix = "kubectl get apiservices shows one that is not Available: bring back the Service behind it, or kubectl delete apiservice NAME"
	}
	return Finding{Check: "namespace", Code: NamespaceTerminating, Fix: fix + "; then kubectl apply -f fixtures/lab/lab.yaml",
		Message: fmt.Sprintf("namespace %s is being deleted and is not gone: %s", pins.Namespace, facts.Terminating)}
}

func queueLeads(queue *kueuev1.LocalQueue, pins fixtures.Pins) Finding {
	finding := Finding{Check: "LocalQueue", Message: fmt.Sprintf("%s → %s, Active", pins.LocalQueue, pins.ClusterQueue)}
	fix := remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
	switch {
	case queue == nil:
		finding.Code = LocalQueueNotFound
		finding.Message, finding.Fix = fmt.Sprintf("there is no LocalQueue %s in namespace %s", pins.LocalQueue, pins.Namespace), fix
		finding.Passes = true
	case string(queue.Spec.ClusterQueue) != pins.ClusterQueue:
		finding.Code = LocalQueueElsewhere
		// The field is immutable, so applying anew does not help.
		finding.Message = fmt.Sprintf("%s → %s; the lab's leads to %s", pins.LocalQueue, queue.Spec.ClusterQueue, pins.ClusterQueue)
		finding.Fix = remakeFix + fmt.Sprintf("kubectl -n %s delete localqueue %s; kubectl apply -f fixtures/lab/lab.yaml", pins.Namespace, pins.LocalQueue)
	case snapshot.Active(queue.Status.Conditions) != "":
		finding.Code = LocalQueueInactive
		finding.Message, finding.Fix = pins.LocalQueue+": "+snapshot.Active(queue.Status.Conditions),
			"look at the ClusterQueue that it leads to"
		finding.Passes = true
	}
	return finding
}

// quotaMatches judges the ClusterQueue that the lab's LocalQueue leads to.
func quotaMatches(facts *Facts, pins fixtures.Pins) Finding {
	queue := facts.ClusterQueue
	finding := Finding{Check: "ClusterQueue", Message: fmt.Sprintf("%s, %d × %s, Active", pins.ClusterQueue, pins.Quota, pins.GPUResource)}
	fix := remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
	if queue == nil {
		finding.Code, finding.Message, finding.Fix, finding.Passes = ClusterQueueNotFound, "there is no ClusterQueue "+pins.ClusterQueue, fix, true
		return finding
	}
	quota := snapshot.Queue{Live: queue}.Quota(pins.GPUResource)
	switch {
	case quota != pins.Quota:
		finding.Code = QuotaMismatch
		finding.Message = fmt.Sprintf("%s has a quota of %d × %s; the lab has %d", pins.ClusterQueue, quota, pins.GPUResource, pins.Quota)
		finding.Fix = fix
	case queue.Spec.NamespaceSelector == nil:
		finding.Code = NamespaceSelectorMissing
		finding.Message = pins.ClusterQueue + " has no namespaceSelector, so it takes in no namespace at all"
		finding.Fix = fix
	case !selects(queue.Spec.NamespaceSelector, facts.NamespaceLabels):
		finding.Code = NamespaceNotSelected
		finding.Message = fmt.Sprintf("%s takes in namespaces with %s, and %s is not one of them", pins.ClusterQueue, metav1.FormatLabelSelector(queue.Spec.NamespaceSelector), pins.Namespace)
		finding.Fix = fmt.Sprintf(`kubectl patch clusterqueue %s --type json -p '[{"op":"replace","path":"/spec/namespaceSelector","value":{}}]'`, pins.ClusterQueue)
	case tooFew(queue, pins) != "":
		finding.Code = QuotaMismatch
		finding.Message = fmt.Sprintf("%s has a quota of %s too, and step 6 makes 3 pods at once; the lab has none of it", pins.ClusterQueue, tooFew(queue, pins))
		finding.Fix = fix
	case snapshot.Active(queue.Status.Conditions) != "":
		finding.Code = ClusterQueueInactive
		finding.Message = pins.ClusterQueue + ": " + snapshot.Active(queue.Status.Conditions)
		finding.Fix, finding.Passes = fix, true
	case facts.Interference.Borrowable >= pins.Quota:
		// While train holds the quota, big wants 5 more: only then is it sure to be let in.
		finding.Code = QuotaBorrowable
		finding.Message = fmt.Sprintf("%s may borrow %d × %s in cohort %s (of %s), so step 7's JobSet may be let in; the lab has %d and no more",
			pins.ClusterQueue, facts.Interference.Borrowable, pins.GPUResource, queue.Spec.CohortName, text.List(facts.Interference.Lenders), pins.Quota)
		finding.Fix = fmt.Sprintf(`kubectl patch clusterqueue %s --type merge -p '{"spec":{"cohortName":""}}'`, pins.ClusterQueue)
	case queue.Spec.CohortName != "":
		finding.Code = CohortPresent
		finding.Note = fmt.Sprintf("it is in cohort %s, whose others may borrow of it and lend to it; the lab's is in none", queue.Spec.CohortName)
	case queue.Spec.AdmissionChecksStrategy != nil && len(queue.Spec.AdmissionChecksStrategy.AdmissionChecks) > 0:
		finding.Code = AdmissionChecksAsked
		finding.Note = fmt.Sprintf("it asks for %s, which the lab has not: step 6 waits for it", text.Times(len(queue.Spec.AdmissionChecksStrategy.AdmissionChecks), "AdmissionCheck"))
	}
	return finding
}

// selects reports whether a selector matches a namespace with these labels. One that is no
// selector Kueue reports itself.
func selects(selector *metav1.LabelSelector, namespace map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || parsed.Matches(labels.Set(namespace))
}

// tooFew is the quota of pods, which every pod counts in, if it has no room for as many pods
// as GPUs; empty if there is none or it has.
func tooFew(queue *kueuev1.ClusterQueue, pins fixtures.Pins) string {
	quotas := quotasOf(queue.Spec.ResourceGroups, string(corev1.ResourcePods))
	var pods int64
	for _, quota := range quotas {
		pods += quota.NominalQuota.Value()
	}
	if len(quotas) == 0 || pods >= pins.Quota {
		return ""
	}
	return fmt.Sprintf("%d pods", pods)
}

func workDirClean(facts *Facts) Finding {
	finding := Finding{Check: "work directory", Message: "no file of anybody else's where the steps write"}
	switch unmanaged := strings.Join(facts.UnmanagedFiles, ", "); {
	case unmanaged == "":
	case facts.Fresh:
		finding.Message = "these were not written by this suite, and --fresh moves them aside: " + unmanaged
	default:
		finding.Code = UnmanagedFiles
		finding.Message = "these were not written by this suite, and it does not write over them: " + unmanaged
		finding.Fix = "move them away, or name another directory with LAB_WORKDIR=/path"
	}
	return finding
}
