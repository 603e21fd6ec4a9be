package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTheDeviceIsReadFromTheEnvironment(t *testing.T) {
	t.Parallel()
	for environment, wanted := range map[string]string{
		"PATH=/bin\r\nNVIDIA_VISIBLE_DEVICES=gpu-3\r\nHOME=/\r\n": "gpu-3",
		"NVIDIA_VISIBLE_DEVICES=gpu-0,gpu-1":                      "gpu-0,gpu-1",
		"MY_NVIDIA_VISIBLE_DEVICES=gpu-3\n":                       "",
		"NVIDIA_VISIBLE_DEVICES=\n":                               "",
	} {
		if got := variable(environment, visibleDevices); got != wanted {
			t.Errorf("%q gives %q, not %q", environment, got, wanted)
		}
	}
}

func TestTheKubeletsWordOnDevices(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{AllocatedResourcesStatus: []corev1.ResourceStatus{
		{Name: "example.com/other", Resources: []corev1.ResourceHealth{{ResourceID: "other-1"}}},
		{Name: "nvidia.com/gpu", Resources: []corev1.ResourceHealth{{ResourceID: "gpu-1"}, {ResourceID: "gpu-2"}}},
	}}}}}
	if got := allocatedDevices(pod, "nvidia.com/gpu"); got != "gpu-1,gpu-2" {
		t.Errorf("devices %q", got)
	}
}
