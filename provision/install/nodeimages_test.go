package install

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTheStepsImageIsReported(t *testing.T) {
	t.Parallel()
	const image = "docker.io/library/busybox:1.35.0"
	node := func(names ...string) []corev1.Node {
		return []corev1.Node{{Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: names}}}}}
	}
	full := node("registry.k8s.io/pause:3.10")
	for range mostReported {
		full[0].Status.Images = append(full[0].Status.Images, corev1.ContainerImage{Names: []string{"another:1"}})
	}
	for name, test := range map[string]struct {
		nodes []corev1.Node
		holds bool
	}{
		"by its whole name":         {node("docker.io/library/busybox@sha256:1", image), true},
		"by its short name":         {node("busybox:1.35.0"), true},
		"as many as can be told of": {full, true},
		"another tag":               {node("docker.io/library/busybox:1.36.0"), false},
		"another's busybox":         {node("localhost/busybox:1.35.0"), false},
		"none":                      {[]corev1.Node{{}}, false},
	} {
		if err := reported(test.nodes, image); (err == nil) != test.holds {
			t.Errorf("%s: %v", name, err)
		}
	}
}
