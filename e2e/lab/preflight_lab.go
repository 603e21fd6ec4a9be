package lab

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/fixtures"
)

func namespaceThere(site *Site, pins fixtures.Pins) Finding {
	finding := Finding{What: "namespace", Says: pins.Namespace + " holds no JobSet of anybody else's"}
	switch {
	case !site.HasNamespace:
		finding.Says = "there is no namespace " + pins.Namespace
		finding.Mend = remake + "kubectl apply -f fixtures/lab/lab.yaml"
		finding.Passes = true
	case len(site.Strangers) > 0 && site.Fresh:
		finding.Says = fmt.Sprintf("%s holds JobSets that this suite did not make, and --fresh takes them away: %s",
			pins.Namespace, strings.Join(site.Strangers, ", "))
	case len(site.Strangers) > 0:
		finding.Says = fmt.Sprintf("%s holds JobSets that this suite did not make, and the walk does not walk over them: %s",
			pins.Namespace, strings.Join(site.Strangers, ", "))
		finding.Mend = fmt.Sprintf("kubectl -n %s delete jobset %s, if nobody needs them; --fresh (FRESH=1) does that and moves the learner's files aside", pins.Namespace, strings.Join(site.Strangers, " "))
	}
	return finding
}

func active(conditions []metav1.Condition) string {
	condition := meta.FindStatusCondition(conditions, kueuev1.ClusterQueueActive)
	switch {
	case condition == nil:
		return "Kueue has not looked at it yet"
	case condition.Status != metav1.ConditionTrue:
		return "it is not Active: " + said(condition.Reason, condition.Message)
	}
	return ""
}

func queueLeads(queue *kueuev1.LocalQueue, pins fixtures.Pins) Finding {
	finding := Finding{What: "LocalQueue", Says: fmt.Sprintf("%s → %s, Active", pins.LocalQueue, pins.ClusterQueue)}
	mend := remake + "kubectl apply -f fixtures/lab/lab.yaml"
	switch {
	case queue == nil:
		finding.Says, finding.Mend = fmt.Sprintf("there is no LocalQueue %s in namespace %s", pins.LocalQueue, pins.Namespace), mend
		finding.Passes = true
	case string(queue.Spec.ClusterQueue) != pins.ClusterQueue:
		// The field is immutable, so applying anew does not help.
		finding.Says = fmt.Sprintf("%s → %s; the lab's leads to %s", pins.LocalQueue, queue.Spec.ClusterQueue, pins.ClusterQueue)
		finding.Mend = remake + fmt.Sprintf("kubectl -n %s delete localqueue %s; kubectl apply -f fixtures/lab/lab.yaml", pins.Namespace, pins.LocalQueue)
	case active(queue.Status.Conditions) != "":
		finding.Says, finding.Mend = pins.LocalQueue+": "+active(queue.Status.Conditions),
			"mend the ClusterQueue that it leads to"
		finding.Passes = true
	}
	return finding
}

// quotaStands judges the ClusterQueue that the lab's LocalQueue leads to.
func quotaStands(queue *kueuev1.ClusterQueue, pins fixtures.Pins) Finding {
	finding := Finding{What: "ClusterQueue", Says: fmt.Sprintf("%s, %d × %s, Active", pins.ClusterQueue, pins.Quota, pins.GPUResource)}
	mend := remake + "kubectl apply -f fixtures/lab/lab.yaml"
	if queue == nil {
		finding.Says, finding.Mend, finding.Passes = "there is no ClusterQueue "+pins.ClusterQueue, mend, true
		return finding
	}
	quota := Queue{live: queue}.quota(pins.GPUResource)
	switch {
	case quota != pins.Quota:
		finding.Says = fmt.Sprintf("%s has a quota of %d × %s; the lab has %d", pins.ClusterQueue, quota, pins.GPUResource, pins.Quota)
		finding.Mend = mend
	case queue.Spec.NamespaceSelector == nil:
		finding.Says = pins.ClusterQueue + " has no namespaceSelector, so it takes in no namespace at all"
		finding.Mend = mend
	case active(queue.Status.Conditions) != "":
		finding.Says = pins.ClusterQueue + ": " + active(queue.Status.Conditions)
		finding.Mend, finding.Passes = mend, true
	}
	return finding
}

func workDirFree(site *Site) Finding {
	finding := Finding{What: "work directory", Says: "no file of anybody else's where the steps write"}
	switch strangers := strings.Join(site.StrangeFiles, ", "); {
	case strangers == "":
	case site.Fresh:
		finding.Says = "these were not written by this suite, and --fresh moves them aside: " + strangers
	default:
		finding.Says = "these were not written by this suite, and it does not write over them: " + strangers
		finding.Mend = "move them away, or name another directory with LAB_WORKDIR=/path"
	}
	return finding
}
