package preflight

import (
	"fmt"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/fixtures"
)

// What the steps make, and what the controllers make and change because of it.
var madeBySteps = []string{"jobsets.jobset.x-k8s.io", "jobs.batch", "pods", "services", "workloads.kueue.x-k8s.io"}

// webhooksServed judges whether somebody answers each webhook that the steps pass through.
// One of a controller of the lab is judged with its controller, unless its Service is gone.
func webhooksServed(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "webhooks", Message: "each that the steps pass through is served"}
	if err := facts.Interference.WebhooksUnread; err != nil {
		finding.Message, finding.Note = "not known", err.Error()
	}
	for _, hook := range facts.Interference.Webhooks {
		asked := hook.Asked(facts.NamespaceLabels, madeBySteps...)
		withItsController := managedBy(facts, hook) && (!facts.JobSet.Available || !facts.Kueue.Available)
		if !hook.Unserved || !hook.Demanded || asked == "" || withItsController {
			continue
		}
		resource, _, _ := strings.Cut(asked, ".")
		kind, name, _ := strings.Cut(hook.Registration, " ")
		finding.Code = WebhookUnserved
		finding.Message = fmt.Sprintf("webhook %s of %s is asked of %s in namespace %s, and Service %s, which it leads to, has nobody behind it: what it is asked of is refused",
			hook.Name, hook.Registration, resource, pins.Namespace, hook.Service)
		namespace, service, _ := strings.Cut(hook.Service, "/")
		finding.Fix = fmt.Sprintf("kubectl -n %s get service,endpointslices,pods shows what became of %s: bring it back; or kubectl delete %s %s, if nobody needs it",
			namespace, service, strings.ToLower(kind), name)
		finding.Passes = true
		return finding
	}
	return finding
}

// managedBy reports whether a webhook leads into the namespace of one of the lab's controllers.
func managedBy(facts *Facts, hook admission.Webhook) bool {
	namespace, _, _ := strings.Cut(hook.Service, "/")
	return strings.HasPrefix(facts.JobSet.Deployment, namespace+"/") || strings.HasPrefix(facts.Kueue.Deployment, namespace+"/")
}

// defaulting reports whether a controller's own webhook is asked of JobSets in the lab's
// namespace, as far as it is known which webhooks there are.
func defaulting(facts *Facts, deployment string) bool {
	namespace, _, _ := strings.Cut(deployment, "/")
	return slices.ContainsFunc(facts.Interference.Webhooks, func(hook admission.Webhook) bool {
		return hook.Mutating && strings.HasPrefix(hook.Service, namespace+"/") && hook.Asked(facts.NamespaceLabels, madeBySteps[0]) != ""
	})
}

// webhookFix is for a controller whose webhook is not asked of JobSets in the namespace.
func webhookFix(name, deployment string, pins fixtures.Pins) string {
	namespace, _, _ := strings.Cut(deployment, "/")
	return fmt.Sprintf("kubectl get mutatingwebhookconfigurations -o yaml: one that leads to namespace %s must be asked of JobSets in namespace %s (rules, namespaceSelector); apply %s's manifest again",
		namespace, pins.Namespace, name)
}

// jobSetsDefaulted judges whether JobSet's own webhook completes a JobSet: without it a
// Job's pods are not Indexed, and no name of theirs exists.
func jobSetsDefaulted(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "defaults", Message: "JobSet's webhook completes a JobSet"}
	// Without defaults JobSet's other webhook refuses every JobSet, with whatever words.
	unqueued := facts.Interference.Unqueued
	completed := unqueued != nil && unqueued.Spec.Network != nil
	if len(facts.Interference.Webhooks) > 0 && !completed && !defaulting(facts, facts.JobSet.Deployment) {
		finding.Code = JobSetNotDefaulted
		finding.Message = fmt.Sprintf("JobSet's webhook that completes a JobSet is not asked of JobSets in namespace %s, so none is taken, or none runs as the lab text says", pins.Namespace)
		finding.Fix = webhookFix("JobSet", facts.JobSet.Deployment, pins)
		finding.Passes = !facts.JobSet.Available
	}
	return finding
}
