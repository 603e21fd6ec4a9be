package main

import (
	"bytes"
	"context"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The manifest and the program must agree on the port and the directory, and
// the pod must start on a node where nothing but kubelet works.
func TestTheDaemonSetFitsTheProgram(t *testing.T) {
	g := NewWithT(t)
	manifest, err := os.ReadFile("daemonset.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var daemonSet appsv1.DaemonSet
	g.Expect(yaml.UnmarshalStrict(manifest, &daemonSet)).To(Succeed())
	pod := daemonSet.Spec.Template
	g.Expect(daemonSet).To(And(HaveField("Namespace", "kube-system"), HaveField("Name", "fake-gpu")))
	g.Expect(daemonSet.Spec.Selector.MatchLabels).To(Equal(map[string]string{"app": "fake-gpu"}))
	g.Expect(pod.Labels).To(Equal(daemonSet.Spec.Selector.MatchLabels))
	g.Expect(pod.Spec.Tolerations).To(ConsistOf(corev1.Toleration{Operator: corev1.TolerationOpExists}))
	g.Expect(pod.Spec.AutomountServiceAccountToken).To(HaveValue(Equal(false)))
	g.Expect(pod.Spec.DNSPolicy).To(Equal(corev1.DNSDefault))

	g.Expect(pod.Spec.Containers).To(HaveLen(1))
	container := pod.Spec.Containers[0]
	g.Expect(container.Name).To(Equal("fake-gpu"))
	g.Expect(container.Image).To(ContainSubstring("fake-gpu"))
	g.Expect(container.ImagePullPolicy).To(Equal(corev1.PullIfNotPresent), "no registry has the image")

	var help bytes.Buffer
	g.Expect(command(context.Background(), []string{"--help"}, &help, &help)).To(Equal(0))
	g.Expect(help.String()).To(ContainSubstring(`(default ":9401")`))
	g.Expect(container.Ports).To(ConsistOf(corev1.ContainerPort{Name: "http", ContainerPort: 9401}))
	for _, probe := range []*corev1.Probe{container.StartupProbe, container.ReadinessProbe} {
		g.Expect(probe.HTTPGet).To(And(HaveField("Path", "/healthz"), HaveField("Port.StrVal", "http")))
		g.Expect(probe.PeriodSeconds).To(BeEquivalentTo(1))
	}

	g.Expect(pod.Spec.Volumes).To(HaveLen(1))
	directory := pod.Spec.Volumes[0].HostPath.Path
	g.Expect(help.String()).To(ContainSubstring(`(default "` + directory + `")`))
	g.Expect(container.VolumeMounts).To(ConsistOf(corev1.VolumeMount{Name: pod.Spec.Volumes[0].Name, MountPath: directory}))
}
