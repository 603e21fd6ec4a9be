package install

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"gsb.test/jobset-e2e/provision/poll"
)

func podAt(ip string, ready corev1.ConditionStatus) corev1.Pod {
	pod := corev1.Pod{}
	pod.Name = "manager-" + ip
	pod.Status.PodIP = ip
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	return pod
}

func slice(ready *bool, addresses ...string) discoveryv1.EndpointSlice {
	s := discoveryv1.EndpointSlice{}
	for _, address := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: ready},
		})
	}
	return s
}

func TestAServiceLeadsToTheReadyPodsOrNotYet(t *testing.T) {
	t.Parallel()
	yes, no := new(bool), new(bool)
	*yes = true
	a, b := podAt("10.244.0.5", corev1.ConditionTrue), podAt("10.244.0.6", corev1.ConditionTrue)
	unready := podAt("10.244.0.7", corev1.ConditionFalse)
	for _, test := range []struct {
		name   string
		slices []discoveryv1.EndpointSlice
		pods   []corev1.Pod
		holds  bool
	}{
		{"no slice yet", nil, []corev1.Pod{a}, false},
		{"an empty slice", []discoveryv1.EndpointSlice{{}}, []corev1.Pod{a}, false},
		{"an endpoint that is not ready", []discoveryv1.EndpointSlice{slice(no, "10.244.0.5")}, []corev1.Pod{a}, false},
		{"the pod before this one", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.4")}, []corev1.Pod{a}, false},
		{"one address too many", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.4", "10.244.0.5")}, []corev1.Pod{a}, false},
		{"one pod missing", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.5")}, []corev1.Pod{a, b}, false},
		{"a pod that is not ready", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.7")}, []corev1.Pod{unready}, false},
		{"no pod and no endpoint", nil, nil, false},
		{"the ready pod", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.5")}, []corev1.Pod{a}, true},
		{"a condition left out means ready", []discoveryv1.EndpointSlice{slice(nil, "10.244.0.5")}, []corev1.Pod{a}, true},
		{"an unready pod beside the ready one", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.5"), slice(no, "10.244.0.7")}, []corev1.Pod{unready, a}, true},
		{"two pods over two slices", []discoveryv1.EndpointSlice{slice(yes, "10.244.0.6"), slice(yes, "10.244.0.5")}, []corev1.Pod{a, b}, true},
	} {
		err := leadsTo("webhook", test.slices, test.pods)
		if (err == nil) != test.holds {
			t.Errorf("%s: %v", test.name, err)
		}
		if pending := poll.Pending(""); err != nil && !errors.As(err, &pending) {
			t.Errorf("%s: the wait would end at once: %v", test.name, err)
		}
	}
}

func TestADeploymentIsRolledOutOrNotYet(t *testing.T) {
	t.Parallel()
	one, none := int32(1), int32(0)
	deployment := func(change func(*appsv1.Deployment)) *appsv1.Deployment {
		d := &appsv1.Deployment{}
		d.Name, d.Generation, d.Spec.Replicas = "manager", 2, &one
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
		change(d)
		return d
	}
	for _, test := range []struct {
		name   string
		change func(*appsv1.Deployment)
		holds  bool
	}{
		{"never observed", func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} }, false},
		{"available as it was before the last change", func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 }, false},
		{"an old pod is still there", func(d *appsv1.Deployment) { d.Status.Replicas = 2 }, false},
		{"only the old pod is available", func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 }, false},
		{"not available", func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 }, false},
		{"scaled to nothing", func(d *appsv1.Deployment) {
			d.Spec.Replicas = &none
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2}
		}, false},
		{"rolled out", func(*appsv1.Deployment) {}, true},
		{"replicas left out means one", func(d *appsv1.Deployment) { d.Spec.Replicas = nil }, true},
	} {
		if err := rolledOut(deployment(test.change), nil); (err == nil) != test.holds {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAHeldUpDeploymentSaysWhatHoldsItUp(t *testing.T) {
	t.Parallel()
	deployment := &appsv1.Deployment{}
	deployment.Name, deployment.Generation = "manager", 1
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "jobset:v0.12.0"}}
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: `failed calling webhook "mpod.kb.io"`,
	}}
	pod := podAt("", corev1.ConditionFalse)
	pod.Name, pod.Status.Phase = "manager-x", corev1.PodPending
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "Insufficient cpu",
	})
	waits := func(image, reason string) []corev1.Pod {
		p := *pod.DeepCopy()
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "manager", Image: image,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "it said"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 137}},
		}}
		return []corev1.Pod{p}
	}
	err := rolledOut(deployment, waits("jobset:v0.12.0", "CrashLoopBackOff"))
	for _, says := range []string{"mpod.kb.io", "manager-x", "Insufficient cpu", "CrashLoopBackOff", "it said", "137"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
	if pending := poll.Pending(""); !errors.As(err, &pending) {
		t.Errorf("a crash that may pass ends the wait: %v", err)
	}
	if pending := poll.Pending(""); !errors.As(rolledOut(deployment, waits("jobset:v0.11.1", "ErrImagePull")), &pending) {
		t.Errorf("a pod of an older template ends the wait: %v", err)
	}
	err = rolledOut(deployment, waits("jobset:v0.12.0", "ImagePullBackOff"))
	if pending := poll.Pending(""); err == nil || errors.As(err, &pending) || !strings.Contains(err.Error(), "image jobset:v0.12.0 of pod manager-x is not in the node") {
		t.Errorf("a missing image does not end the wait: %v", err)
	}
}
