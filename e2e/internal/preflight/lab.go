package preflight

import (
	"fmt"
	"strings"

	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

func namespaceClean(site *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "namespace", Message: pins.Namespace + " holds no JobSet of anybody else's"}
	switch {
	case !site.HasNamespace:
		finding.Message = "there is no namespace " + pins.Namespace
		finding.Fix = remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
		finding.Passes = true
	case len(site.UnmanagedJobSets) > 0 && site.Fresh:
		finding.Message = fmt.Sprintf("%s holds JobSets that this suite did not make, and --fresh takes them away: %s",
			pins.Namespace, strings.Join(site.UnmanagedJobSets, ", "))
	case len(site.UnmanagedJobSets) > 0:
		finding.Message = fmt.Sprintf("%s holds JobSets that this suite did not make, and the walk does not walk over them: %s",
			pins.Namespace, strings.Join(site.UnmanagedJobSets, ", "))
		finding.Fix = fmt.Sprintf("kubectl -n %s delete jobset %s, if nobody needs them; --fresh (FRESH=1) does that and moves the learner's files aside", pins.Namespace, strings.Join(site.UnmanagedJobSets, " "))
	}
	return finding
}

func queueLeads(queue *kueuev1.LocalQueue, pins fixtures.Pins) Finding {
	finding := Finding{Check: "LocalQueue", Message: fmt.Sprintf("%s → %s, Active", pins.LocalQueue, pins.ClusterQueue)}
	mend := remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
	switch {
	case queue == nil:
		finding.Message, finding.Fix = fmt.Sprintf("there is no LocalQueue %s in namespace %s", pins.LocalQueue, pins.Namespace), mend
		finding.Passes = true
	case string(queue.Spec.ClusterQueue) != pins.ClusterQueue:
		// The field is immutable, so applying anew does not help.
		finding.Message = fmt.Sprintf("%s → %s; the lab's leads to %s", pins.LocalQueue, queue.Spec.ClusterQueue, pins.ClusterQueue)
		finding.Fix = remakeFix + fmt.Sprintf("kubectl -n %s delete localqueue %s; kubectl apply -f fixtures/lab/lab.yaml", pins.Namespace, pins.LocalQueue)
	case snapshot.Active(queue.Status.Conditions) != "":
		finding.Message, finding.Fix = pins.LocalQueue+": "+snapshot.Active(queue.Status.Conditions),
			"mend the ClusterQueue that it leads to"
		finding.Passes = true
	}
	return finding
}

// quotaStands judges the ClusterQueue that the lab's LocalQueue leads to.
func quotaMatches(queue *kueuev1.ClusterQueue, pins fixtures.Pins) Finding {
	finding := Finding{Check: "ClusterQueue", Message: fmt.Sprintf("%s, %d × %s, Active", pins.ClusterQueue, pins.Quota, pins.GPUResource)}
	mend := remakeFix + "kubectl apply -f fixtures/lab/lab.yaml"
	if queue == nil {
		finding.Message, finding.Fix, finding.Passes = "there is no ClusterQueue "+pins.ClusterQueue, mend, true
		return finding
	}
	quota := snapshot.Queue{Live: queue}.Quota(pins.GPUResource)
	switch {
	case quota != pins.Quota:
		finding.Message = fmt.Sprintf("%s has a quota of %d × %s; the lab has %d", pins.ClusterQueue, quota, pins.GPUResource, pins.Quota)
		finding.Fix = mend
	case queue.Spec.NamespaceSelector == nil:
		finding.Message = pins.ClusterQueue + " has no namespaceSelector, so it takes in no namespace at all"
		finding.Fix = mend
	case snapshot.Active(queue.Status.Conditions) != "":
		finding.Message = pins.ClusterQueue + ": " + snapshot.Active(queue.Status.Conditions)
		finding.Fix, finding.Passes = mend, true
	}
	return finding
}

func workDirClean(site *Facts) Finding {
	finding := Finding{Check: "work directory", Message: "no file of anybody else's where the steps write"}
	switch strangers := strings.Join(site.UnmanagedFiles, ", "); {
	case strangers == "":
	case site.Fresh:
		finding.Message = "these were not written by this suite, and --fresh moves them aside: " + strangers
	default:
		finding.Message = "these were not written by this suite, and it does not write over them: " + strangers
		finding.Fix = "move them away, or name another directory with LAB_WORKDIR=/path"
	}
	return finding
}
