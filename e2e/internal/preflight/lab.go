package preflight

import (
	"fmt"
	"strings"

	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

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
func quotaMatches(queue *kueuev1.ClusterQueue, pins fixtures.Pins) Finding {
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
	case snapshot.Active(queue.Status.Conditions) != "":
		finding.Code = ClusterQueueInactive
		finding.Message = pins.ClusterQueue + ": " + snapshot.Active(queue.Status.Conditions)
		finding.Fix, finding.Passes = fix, true
	}
	return finding
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
