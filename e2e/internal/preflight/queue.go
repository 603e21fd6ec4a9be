package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// queueAdmits judges whether the lab's ClusterQueue lets anybody in, and whether
// somebody else is in the way.
func queueAdmits(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "queueing", Message: "nobody else is in " + pins.ClusterQueue}
	queue := facts.ClusterQueue
	if queue == nil {
		finding.Note = "there is no ClusterQueue " + pins.ClusterQueue + " to be in"
		return finding
	}
	local := facts.LocalQueue
	waiting, holding := facts.Interference.WaitingForQuota, facts.Interference.HoldingQuota
	strict := queue.Spec.QueueingStrategy == kueuev1.StrictFIFO
	switch {
	case stopped(queue.Spec.StopPolicy):
		finding.Code = ClusterQueueStopped
		finding.Message = fmt.Sprintf("ClusterQueue %s is stopped (stopPolicy %s), so it lets nobody in", queue.Name, *queue.Spec.StopPolicy)
		finding.Fix = fmt.Sprintf(`kubectl patch clusterqueue %s --type merge -p '{"spec":{"stopPolicy":"None"}}'`, queue.Name)
	case local != nil && stopped(local.Spec.StopPolicy):
		finding.Code = LocalQueueStopped
		finding.Message = fmt.Sprintf("LocalQueue %s is stopped (stopPolicy %s), so it lets nobody in", local.Name, *local.Spec.StopPolicy)
		finding.Fix = fmt.Sprintf(`kubectl -n %s patch localqueue %s --type merge -p '{"spec":{"stopPolicy":"None"}}'`, pins.Namespace, local.Name)
	case len(holding) > 0:
		finding.Code = QuotaHeld
		finding.Message = fmt.Sprintf("others hold quota of ClusterQueue %s: %s", queue.Name, text.List(holding))
		finding.Fix = "kubectl describe workload shows whose each is; delete what made it"
	case strict && len(waiting) > 0:
		finding.Code = QueueBlocked
		finding.Message = fmt.Sprintf("ClusterQueue %s is StrictFIFO, and at its head waits what is not let in and lets nobody past: %s", queue.Name, text.List(waiting))
		finding.Fix = fmt.Sprintf(`kubectl patch clusterqueue %s --type merge -p '{"spec":{"queueingStrategy":"BestEffortFIFO"}}', or delete what waits`, queue.Name)
	case strict:
		finding.Code = QueueIsStrictFIFO
		finding.Note = fmt.Sprintf("ClusterQueue %s is StrictFIFO: a JobSet that is too big, such as step 7's, lets nobody past", queue.Name)
	case len(waiting) > 0:
		finding.Code = WorkloadsPending
		finding.Note = "others wait in it: " + text.List(waiting)
	}
	return finding
}

func stopped(policy *kueuev1.StopPolicy) bool { return ptr.Deref(policy, kueuev1.None) != kueuev1.None }

// flavorFits judges whether a node has the labels that the quota's flavor asks
// for: Kueue adds them to what it lets in, and the scheduler must find a node.
func flavorFits(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "flavor", Message: "a node has the labels that it asks for"}
	if facts.ClusterQueue == nil {
		finding.Message, finding.Note = "there is no quota of one", "there is no ClusterQueue "+pins.ClusterQueue
		return finding
	}
	for _, name := range flavorsOf(facts.ClusterQueue, pins.GPUResource) {
		at := slices.IndexFunc(facts.Interference.Flavors, func(f kueuev1.ResourceFlavor) bool { return f.Name == name })
		if at < 0 {
			finding.Code = FlavorNotFound
			finding.Message = fmt.Sprintf("the quota of ClusterQueue %s is of ResourceFlavor %s, and there is none of that name", pins.ClusterQueue, name)
			finding.Fix, finding.Passes = remakeFix+"kubectl apply -f fixtures/lab/lab.yaml", true
			return finding
		}
		flavor := facts.Interference.Flavors[at]
		if !slices.ContainsFunc(facts.Nodes, func(node corev1.Node) bool { return hasLabels(node, flavor.Spec.NodeLabels) }) {
			finding.Code = FlavorMatchesNoNode
			finding.Message = fmt.Sprintf("no node has the labels that ResourceFlavor %s asks for (%s), so what Kueue lets in finds no node",
				name, pairs(flavor.Spec.NodeLabels))
			finding.Fix = fmt.Sprintf("kubectl label node NODE %s, or kubectl edit resourceflavor %s and remove its nodeLabels",
				strings.ReplaceAll(pairs(flavor.Spec.NodeLabels), ", ", " "), name)
			finding.Passes = true
		}
		if flavor.Spec.TopologyName != nil {
			finding.Code = FlavorWithTopology
			finding.Note = fmt.Sprintf("ResourceFlavor %s has the topology %s: Kueue lets in only what it can place on nodes that carry all labels of its levels, and the lab's need none", name, *flavor.Spec.TopologyName)
		}
		if at := slices.IndexFunc(flavor.Spec.NodeTaints, func(taint corev1.Taint) bool {
			return taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(flavor.Spec.Tolerations, taint)
		}); at >= 0 {
			taint := flavor.Spec.NodeTaints[at]
			finding.Code = FlavorTainted
			finding.Message = fmt.Sprintf("ResourceFlavor %s has the taint %s, which no pod of the steps tolerates, so Kueue gives nobody its quota", name, taint.ToString())
			finding.Fix = fmt.Sprintf("kubectl edit resourceflavor %s and remove its nodeTaints", name)
		}
	}
	return finding
}

func tolerated(tolerations []corev1.Toleration, taint corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), &taint, false) })
}

func flavorsOf(queue *kueuev1.ClusterQueue, resource string) []string {
	var names []string
	for _, group := range queue.Spec.ResourceGroups {
		if !slices.Contains(group.CoveredResources, corev1.ResourceName(resource)) {
			continue
		}
		for _, flavor := range group.Flavors {
			names = append(names, string(flavor.Name))
		}
	}
	return names
}

// jobSetsQueued judges by what comes back from a dry run whether Kueue takes
// JobSets in hand: one with a queue label must come back suspended.
func jobSetsQueued(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "integration", Message: "Kueue suspends a JobSet that is to be queued"}
	switch queued := facts.Interference.Queued; {
	case queued == nil:
		finding.Message, finding.Note = "not known", "a dry run of a JobSet was not answered"
	case !ptr.Deref(queued.Spec.Suspend, false):
		finding.Code = IntegrationDisabled
		// Before its webhooks are there, nothing passes through them.
		finding.Passes = !facts.Kueue.Available || len(facts.KueueCertificates.Webhooks) == 0 && facts.KueueCertificates.Unread == nil
		finding.Message = "Kueue does not suspend a JobSet that has a queue label, so it starts past the queue: its JobSet integration is off"
		finding.Fix = "add jobset.x-k8s.io/jobset to integrations.frameworks in Kueue's configuration (kubectl -n kueue-system edit configmap kueue-manager-config), then kubectl -n kueue-system rollout restart deployment"
		if len(facts.Interference.Webhooks) > 0 && !defaulting(facts, facts.Kueue.Deployment) {
			finding.Message = fmt.Sprintf("Kueue does not suspend a JobSet that has a queue label, so it starts past the queue: its webhook is not asked of JobSets in namespace %s", pins.Namespace)
			finding.Fix = webhookFix("Kueue", facts.Kueue.Deployment, pins)
		} else {
			finding.Fix += fmt.Sprintf("; if it is there, see whether managedJobsNamespaceSelector in the same file leaves namespace %s out", pins.Namespace)
		}
	}
	return finding
}
