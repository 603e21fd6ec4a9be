package install

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestTheNodeOffersItsGPUsOrNotYet(t *testing.T) {
	t.Parallel()
	const gpu = corev1.ResourceName("nvidia.com/gpu")
	node := func(capacity, allocatable string) corev1.Node {
		n := corev1.Node{}
		n.Status.Capacity = corev1.ResourceList{gpu: resource.MustParse(capacity), "cpu": resource.MustParse("4")}
		n.Status.Allocatable = corev1.ResourceList{gpu: resource.MustParse(allocatable), "cpu": resource.MustParse("4")}
		return n
	}
	bare := corev1.Node{}
	bare.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4")}
	for _, test := range []struct {
		name  string
		nodes []corev1.Node
		holds bool
	}{
		{"no node", nil, false},
		{"a node without GPUs", []corev1.Node{bare}, false},
		{"after a kubelet restart", []corev1.Node{node("4", "0")}, false},
		{"one is unhealthy", []corev1.Node{node("4", "3")}, false},
		{"two", []corev1.Node{node("2", "2")}, false},
		{"eight", []corev1.Node{node("8", "8")}, false},
		{"four more that are unhealthy", []corev1.Node{node("8", "4")}, false},
		{"four", []corev1.Node{node("4", "4")}, true},
	} {
		if err := offers(test.nodes, gpu, 4); (err == nil) != test.holds {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestTheDevicePluginRunsEverywhereOrNotYet(t *testing.T) {
	t.Parallel()
	plugin := func(change func(*appsv1.DaemonSetStatus)) *appsv1.DaemonSet {
		d := &appsv1.DaemonSet{}
		d.Name, d.Generation = "fake-gpu", 2
		d.Status = appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 1, UpdatedNumberScheduled: 1, NumberReady: 1}
		change(&d.Status)
		return d
	}
	for _, test := range []struct {
		name   string
		change func(*appsv1.DaemonSetStatus)
		holds  bool
	}{
		{"never observed", func(s *appsv1.DaemonSetStatus) { *s = appsv1.DaemonSetStatus{} }, false},
		{"on no node", func(s *appsv1.DaemonSetStatus) { *s = appsv1.DaemonSetStatus{ObservedGeneration: 2} }, false},
		{"before the last change", func(s *appsv1.DaemonSetStatus) { s.ObservedGeneration = 1 }, false},
		{"the old pod", func(s *appsv1.DaemonSetStatus) { s.UpdatedNumberScheduled = 0 }, false},
		{"not ready", func(s *appsv1.DaemonSetStatus) { s.NumberReady = 0 }, false},
		{"ready", func(*appsv1.DaemonSetStatus) {}, true},
	} {
		err := runsEverywhere(plugin(test.change), nil)
		if (err == nil) != test.holds {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "fake-gpu") {
			t.Errorf("%s: it does not name the DaemonSet: %v", test.name, err)
		}
	}
}
