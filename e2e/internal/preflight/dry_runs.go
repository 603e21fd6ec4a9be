package preflight

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// A Part is an object that the controllers make of a JobSet of the steps, as a dry run
// of it was answered.
type Part struct {
	Kind   string
	JobSet string // the fixture that it is a part of
	Err    error
	// Asked and Pod are a pod as it was asked for and as it came back.
	Asked, Pod *corev1.Pod
}

// dryRunParts asks for the parts of a JobSet without making one: what the JobSet's own
// dry run does not show is whether its Jobs, pods and Service are taken, and unchanged.
func dryRunParts(ctx context.Context, w *cluster.Cluster, jobSet *jobsetv1.JobSet, fixture string) []Part {
	if jobSet == nil || len(jobSet.Spec.ReplicatedJobs) == 0 {
		return nil
	}
	called := func(labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{GenerateName: "preflight-", Namespace: w.Pins.Namespace, Labels: labels}
	}
	create := func(object client.Object) error {
		ctx, cancel := cluster.Brief(ctx)
		defer cancel()
		return w.API.Create(ctx, object, client.DryRunAll)
	}
	template := jobSet.Spec.ReplicatedJobs[0].Template
	pod := &corev1.Pod{ObjectMeta: called(template.Spec.Template.Labels), Spec: *template.Spec.Template.Spec.DeepCopy()}
	if pod.Spec.RestartPolicy == "" {
		pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure // JobSet's own default
	}
	back := pod.DeepCopy()
	parts := []Part{{Kind: "Pod", JobSet: fixture, Asked: pod, Pod: back, Err: create(back)}}
	job := &batchv1.Job{ObjectMeta: called(template.Labels), Spec: *template.Spec.DeepCopy()}
	job.Spec.Template.Spec.RestartPolicy = pod.Spec.RestartPolicy
	service := &corev1.Service{ObjectMeta: called(nil), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{jobsetv1.JobSetNameKey: "preflight"}}}
	return append(parts, Part{Kind: "Job", JobSet: fixture, Err: create(job)}, Part{Kind: "Service", JobSet: fixture, Err: create(service)})
}

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
		case part.Err != nil && (notOurRight(part.Err) || facts.going.Some() && strings.Contains(part.Err.Error(), "exceeded quota")):
			// Not the lab's fault: the controllers ask with rights of their own, and what
			// goes before the first step counts in no quota after it.
		case part.Err != nil:
			finding.Code, finding.Passes = PartRefused, passing(part.Err)
			finding.Message = fmt.Sprintf("the API server does not take a %s as JobSet %s needs it: %v", part.Kind, part.JobSet, part.Err)
			finding.Fix = fmt.Sprintf("the message names who refuses it: a label of the namespace (kubectl get namespace %s --show-labels), a LimitRange or ResourceQuota in it, an admission policy or a webhook; take the namespace out of it", pins.Namespace)
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

// notOurRight reports whether a request was refused because of who asked.
func notOurRight(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot create resource")
}

func fitsANode(part Part, nodes []corev1.Node) bool {
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
