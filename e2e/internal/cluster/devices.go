package cluster

import (
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// visibleDevices is the variable in which a GPU's device plugin tells a container
// which devices are its own.
const visibleDevices = "NVIDIA_VISIBLE_DEVICES"

// devices remembers what each pod was seen to hold: the environment of a
// running container does not change, and looking costs an exec.
type devices struct {
	mu   sync.Mutex
	seen map[types.UID]string
}

// look returns the device of each running pod that asks for a GPU, by pod name,
// and why it could not be seen where it could not. The pod itself is asked; of
// one whose image has no env, or by a client that only reads, the kubelet's word
// in the pod's status is taken.
func (d *devices) look(ctx context.Context, w *Cluster, gpu string, pods []corev1.Pod) (found, unseen map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[types.UID]string{}
	}
	found, unseen = map[string]string{}, map[string]string{}
	for i := range pods {
		pod := &pods[i]
		if snapshot.GpusOf(pod.Spec, gpu) == 0 || !snapshot.IsRunningAndReady(pod) {
			continue
		}
		if _, known := d.seen[pod.UID]; !known {
			var environment string
			err := ErrOnlyReads
			if !w.readOnly {
				environment, err = w.Exec(ctx, pod, "env")
			}
			allocated := allocatedDevices(pod, gpu)
			switch {
			case err == nil && variable(environment, visibleDevices) != "":
				d.seen[pod.UID] = variable(environment, visibleDevices)
			case allocated != "":
				d.seen[pod.UID] = allocated
			case err == nil:
				unseen[pod.Name] = snapshot.NoDeviceVariable
				continue
			default:
				unseen[pod.Name] = err.Error()
				continue
			}
		}
		found[pod.Name] = d.seen[pod.UID]
	}
	return found, unseen
}

// variable finds the value of a variable in what env prints.
func variable(environment, name string) string {
	for line := range strings.Lines(environment) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// allocatedDevices are the devices that the kubelet says it gave a pod, with
// commas between them. It says so from Kubernetes 1.36 on (KEP-4680).
func allocatedDevices(pod *corev1.Pod, resource string) string {
	var ids []string
	for _, container := range pod.Status.ContainerStatuses {
		for _, status := range container.AllocatedResourcesStatus {
			for _, device := range status.Resources {
				if string(status.Name) == resource {
					ids = append(ids, string(device.ResourceID))
				}
			}
		}
	}
	return strings.Join(ids, ",")
}
