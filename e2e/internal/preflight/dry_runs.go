package preflight

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// unqueuedRuns judges by what a JobSet without a queue label comes back as whether it
// starts at once, and with no label that nobody wrote.
func unqueuedRuns(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "no queue", Message: "a JobSet without a queue label stays without one, and starts"}
	unqueued := facts.Interference.Unqueued
	if unqueued == nil {
		finding.Message, finding.Note = "not known", "a dry run of a JobSet was not answered"
		return finding
	}
	switch added := unqueued.Labels[constants.QueueLabel]; {
	case added != "" && facts.Interference.HasDefaultQueue && added == defaultQueue:
		finding.Code = QueueLabelAdded
		finding.Message = fmt.Sprintf("LocalQueue %s in namespace %s gives every JobSet a queue label, and those of steps 1, 4 and 5 are to have none", defaultQueue, pins.Namespace)
		finding.Fix = fmt.Sprintf("kubectl -n %s delete localqueue %s", pins.Namespace, defaultQueue)
	case added != "":
		finding.Code = QueueLabelAdded
		finding.Message = fmt.Sprintf("a JobSet that was applied without a queue label comes back with %s: %s, which a webhook or a policy gives it", constants.QueueLabel, added)
		finding.Fix = "kubectl get mutatingwebhookconfigurations,mutatingadmissionpolicies lists who may; take namespace " + pins.Namespace + " out of it"
	case ptr.Deref(unqueued.Spec.Suspend, false):
		finding.Code = UnqueuedSuspended
		finding.Message = "Kueue suspends a JobSet without a queue label too, so step 1 can never run: manageJobsWithoutQueueName is on"
		namespace, deployment, _ := strings.Cut(text.Or(facts.Kueue.Deployment, "kueue-system/kueue-controller-manager"), "/")
		finding.Fix = fmt.Sprintf("set manageJobsWithoutQueueName: false (kubectl -n %s edit configmap kueue-manager-config), then kubectl -n %s rollout restart deployment %s", namespace, namespace, deployment)
	}
	return finding
}

// defaultQueue is the LocalQueue that Kueue gives to what names none.
const defaultQueue = "default"

// partsTaken judges whether the API server takes what the controllers make of a JobSet,
// and leaves it as it is.
func partsTaken(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "pods", Message: "the Jobs, pods and Service of a JobSet are taken as they are"}
	var changed []string
	for _, part := range facts.Interference.Parts {
		switch {
		case part.Err != nil && (admission.NotOurRight(part.Err) || facts.going.Some() && strings.Contains(part.Err.Error(), "exceeded quota")):
			// Not the lab's fault: the controllers ask with rights of their own, and what
			// goes before the first step counts in no quota after it.
		case part.Err != nil:
			finding.Code, finding.Passes = PartRefused, passing(part.Err)
			finding.Message = fmt.Sprintf("the API server does not take a %s as JobSet %s needs it: %v", part.Kind, part.JobSet, part.Err)
			finding.Fix = fmt.Sprintf("the message names who refuses it: a label of the namespace (kubectl get namespace %s --show-labels), a LimitRange or ResourceQuota in it, an admission policy or a webhook; take the namespace out of it", pins.Namespace)
			return finding
		case len(part.Rewritten) > 0:
			finding.Code = PartRewritten
			finding.Message = fmt.Sprintf("a %s of JobSet %s comes back otherwise than it was asked for: %s", part.Kind, part.JobSet, text.List(part.Rewritten))
			finding.Fix = changersFix(pins)
			return finding
		case part.Pod != nil && snapshot.GpusOf(part.Pod.Spec, pins.GPUResource) > snapshot.GpusOf(part.Asked.Spec, pins.GPUResource):
			finding.Code = PartRewritten
			finding.Message = fmt.Sprintf("a pod of JobSet %s comes back with %d × %s, which it does not ask for", part.JobSet, snapshot.GpusOf(part.Pod.Spec, pins.GPUResource), pins.GPUResource)
			finding.Fix = changersFix(pins)
			return finding
		case part.Pod != nil && len(part.Pod.Spec.SchedulingGates) > len(part.Asked.Spec.SchedulingGates):
			finding.Code = PodsGated
			finding.Message = fmt.Sprintf("a pod of JobSet %s comes back with the scheduling gate %s, so it would never start", part.JobSet, part.Pod.Spec.SchedulingGates[0].Name)
			finding.Fix = "whose gate it is, its name says; Kueue's: remove pod from integrations.frameworks, or set manageJobsWithoutQueueName: false, in configmap kueue-manager-config"
			return finding
		case part.Pod != nil && !fitsANode(part, facts.Nodes):
			finding.Code = PodMatchesNoNode
			finding.Message = fmt.Sprintf("a pod of JobSet %s comes back with a nodeSelector that no node has the labels for: %s", part.JobSet, pairs(part.Pod.Spec.NodeSelector))
			finding.Fix = fmt.Sprintf("kubectl get namespace %s -o yaml shows whether an annotation sets it (scheduler.alpha.kubernetes.io/node-selector); else a webhook does", pins.Namespace)
			return finding
		case part.Pod != nil:
			for _, change := range changes(part.Asked.Spec, part.Pod.Spec) {
				changed = append(changed, fmt.Sprintf("%s of JobSet %s", change, part.JobSet))
			}
		}
	}
	if len(changed) > 0 {
		finding.Code = PartsChanged
		finding.Message = "the API server takes the Jobs, pods and Service of a JobSet"
		finding.Note = "a webhook or a policy changes the pods, and a step that fails may fail by it: " + text.List(changed)
	}
	return finding
}

// changersFix leads to whoever may change what is applied in the lab's namespace.
func changersFix(pins fixtures.Pins) string {
	return fmt.Sprintf("kubectl get mutatingwebhookconfigurations,mutatingadmissionpolicies lists who may, kubectl -n %s get limitranges what the namespace adds; take it away, or the namespace out of it", pins.Namespace)
}

func fitsANode(part admission.Part, nodes []corev1.Node) bool {
	if len(nodes) == 0 || maps.Equal(part.Asked.Spec.NodeSelector, part.Pod.Spec.NodeSelector) {
		return true
	}
	return slices.ContainsFunc(nodes, func(node corev1.Node) bool { return hasLabels(node, part.Pod.Spec.NodeSelector) })
}

// changes lists what of a pod's specification came back otherwise than it was asked for,
// beside what the API server itself fills in.
func changes(asked, back corev1.PodSpec) []string {
	var changed []string
	differ := func(what string, asked, back any) {
		if !reflect.DeepEqual(asked, back) {
			changed = append(changed, what)
		}
	}
	named := map[string]corev1.Container{}
	for _, container := range slices.Concat(asked.InitContainers, asked.Containers) {
		named[container.Name] = container
	}
	for _, container := range slices.Concat(back.InitContainers, back.Containers) {
		was, known := named[container.Name]
		if !known {
			changed = append(changed, "an added container "+container.Name)
			continue
		}
		differ("the image of container "+container.Name, was.Image, container.Image)
		if container.ImagePullPolicy == corev1.PullAlways {
			differ("the imagePullPolicy of container "+container.Name, was.ImagePullPolicy, container.ImagePullPolicy)
		}
		differ("the command of container "+container.Name, slices.Concat(was.Command, was.Args), slices.Concat(container.Command, container.Args))
	}
	differ("the nodeSelector", len(asked.NodeSelector), len(back.NodeSelector))
	if back.SchedulerName != corev1.DefaultSchedulerName && back.SchedulerName != "" {
		differ("the schedulerName", asked.SchedulerName, back.SchedulerName)
	}
	differ("the runtimeClassName", ptr.Deref(asked.RuntimeClassName, ""), ptr.Deref(back.RuntimeClassName, ""))
	differ("the hostNetwork", asked.HostNetwork, back.HostNetwork)
	return changed
}
