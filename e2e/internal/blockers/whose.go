package blockers

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// pins is what the lab promises. A slip in them is reported where the program starts.
var pins = sync.OnceValue(func() fixtures.Pins {
	pins, err := fixtures.ReadPins()
	if err != nil {
		return fixtures.Pins{}
	}
	return pins
})

// templates are the pod specs as the learner wrote them, as far as it can be seen: Kueue
// keeps them in the Workload and adds to those of the JobSet what its flavor asks for.
func templates(j snapshot.JobSet) []corev1.PodSpec {
	var specs []corev1.PodSpec
	if workload := j.Workload(); workload.Live != nil {
		for _, podSet := range workload.Live.Spec.PodSets {
			if len(podSet.Template.Spec.Containers) > 0 {
				specs = append(specs, podSet.Template.Spec)
			}
		}
	}
	if len(specs) > 0 {
		return specs
	}
	for _, role := range j.Live.Spec.ReplicatedJobs {
		specs = append(specs, role.Template.Spec.Template.Spec)
	}
	return specs
}

// asksFor reports whether the JobSet itself asks for the resource. A LimitRange puts a
// request into the pods alone.
func asksFor(j snapshot.JobSet, resource corev1.ResourceName) bool {
	for _, role := range j.Live.Spec.ReplicatedJobs {
		spec := role.Template.Spec.Template.Spec
		for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
			_, requested := container.Resources.Requests[resource]
			_, limited := container.Resources.Limits[resource]
			if requested || limited {
				return true
			}
		}
	}
	return false
}

// asksToBePlaced reports whether the learner said on which nodes the pods may run.
func asksToBePlaced(j snapshot.JobSet) bool {
	return slices.ContainsFunc(templates(j), func(spec corev1.PodSpec) bool {
		ports := slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
			return slices.ContainsFunc(c.Ports, func(port corev1.ContainerPort) bool { return port.HostPort != 0 })
		})
		return ports || spec.HostNetwork || len(spec.NodeSelector) > 0 || spec.Affinity != nil || len(spec.TopologySpreadConstraints) > 0
	})
}

// hasPrivileges reports whether the pods ask for what a namespace may well refuse.
func hasPrivileges(j snapshot.JobSet) bool {
	return slices.ContainsFunc(templates(j), func(spec corev1.PodSpec) bool {
		privileged := slices.ContainsFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
			return c.SecurityContext != nil && (c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged || c.SecurityContext.Capabilities != nil)
		})
		hostPath := slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil })
		return privileged || hostPath || spec.HostNetwork || spec.HostPID || spec.HostIPC
	})
}

// fewGPUs reports whether the pods of the namespace together fit on the GPUs that the
// lab promises, so that a pod for which there are none is not asking for too many.
func fewGPUs(j snapshot.JobSet) bool {
	var wanted int64
	for _, pod := range j.Snapshot.Pods {
		if pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning {
			wanted += snapshot.GpusOf(pod.Spec, j.Snapshot.GPUResource)
		}
	}
	return wanted <= pins().GPUs
}

// isLabImage reports whether that is the image with which the lab comes.
func isLabImage(image string) bool {
	const hub = "docker.io/library/"
	return strings.TrimPrefix(image, hub) == strings.TrimPrefix(pins().Image, hub)
}

// programs are those with which the lab text's own containers start.
var programs = []string{"sh", "/bin/sh", "sleep", "/bin/sleep"}

// asTheLabSays reports whether a container runs the lab's image in the lab's way: the
// lab has to see to it that this works.
func asTheLabSays(pod *corev1.Pod, name string) bool {
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if container.Name == name {
			return isLabImage(container.Image) && (len(container.Command) == 0 || slices.Contains(programs, container.Command[0]))
		}
	}
	return false
}
