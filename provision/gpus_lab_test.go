package provision

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/fixtures/fixturestest"
	"gsb.test/jobset-e2e/provision/install"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
)

// proofNamespace has no queue: its pods take GPUs that no quota counts.
const proofNamespace = "gpu-proof"

// TestGPUsOnTheLab proves the fake GPUs where a learner meets them: through the
// real kubelet of a lab that stands. .ci/gpus runs it; make test,
// which has no cluster, passes it by.
func TestGPUsOnTheLab(t *testing.T) {
	if os.Getenv("LAB_KUBECONFIG") == "" {
		t.Skip("no lab: LAB_KUBECONFIG is not set")
	}
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(time.Minute)
	g.SetDefaultEventuallyPollingInterval(250 * time.Millisecond)
	ctx := t.Context()
	pins := fixturestest.Pins(t)
	c, err := onTheLab(ctx, pins)
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(c.EnsureNamespace(ctx, proofNamespace)).To(Succeed())
	t.Cleanup(func() {
		gone := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: proofNamespace}}
		g.Expect(c.Delete(context.Background(), gone)).To(Succeed())
		g.Eventually(func() error { return c.Get(context.Background(), client.ObjectKeyFromObject(gone), gone) }).Should(MatchError(ContainSubstring("not found")))
	})

	// One pod more than there are GPUs.
	for i := range pins.GPUs + 1 {
		g.Expect(c.Create(ctx, gpuPod(fmt.Sprintf("pod-%d", i), pins))).To(Succeed())
	}
	g.Eventually(func() (string, error) { return phases(ctx, c) }).Should(Equal("Pending Running Running Running Running"))
	waiting, holders := devices(ctx, c, g)
	g.Expect(holders).To(HaveLen(int(pins.GPUs)), "every pod sees one device, and no two the same: %v", holders)
	g.Consistently(func() (string, error) { return phases(ctx, c) }, 2*time.Second).Should(HavePrefix("Pending Running"))
	g.Expect(whyPending(ctx, c, waiting)).To(ContainSubstring("Insufficient " + pins.GPUResource))

	// kubelet forgets its plugins when it restarts; ours must notice.
	said, err := c.Node(ctx, "systemctl", "restart", "kubelet")
	g.Expect(err).NotTo(HaveOccurred(), said)
	// The node's numbers are stale for a while; the plugin knows which kubelet it
	// is registered with, and a pod that comes before that is refused for good.
	g.Eventually(func() error { return askPlugins(ctx, c, "healthz") }).Should(Succeed())
	g.Eventually(func() (int64, error) { return allocatable(ctx, c, pins) }).Should(Equal(pins.GPUs))

	// A device that comes free goes to the pod that waits, through the new registration.
	freed := slices.Sorted(maps.Keys(holders))[0]
	g.Expect(c.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: proofNamespace, Name: holders[freed]}})).To(Succeed())
	g.Eventually(func() (string, error) { return phases(ctx, c) }).Should(Equal("Running Running Running Running"))
	_, after := devices(ctx, c, g)
	g.Expect(after).To(HaveKeyWithValue(freed, waiting), "the pod that waited has the device that came free: %v", after)

	// Health is switchable, and kubelet believes the plugin.
	g.Expect(switchHealth(ctx, c, freed, "Unhealthy")).To(Succeed())
	g.Eventually(func() (int64, error) { return allocatable(ctx, c, pins) }).Should(Equal(pins.GPUs - 1))
	g.Expect(switchHealth(ctx, c, freed, "Healthy")).To(Succeed())
	g.Eventually(func() (int64, error) { return allocatable(ctx, c, pins) }).Should(Equal(pins.GPUs))
}

// onTheLab connects to the lab that LAB_NAME names, with its node.
func onTheLab(ctx context.Context, pins fixtures.Pins) (*install.Cluster, error) {
	l, err := labs.New(pins, os.Getenv("LAB_NAME"))
	if err != nil {
		return nil, err
	}
	e, err := chooseEngine(ctx, l, l.Folder)
	if err != nil {
		return nil, err
	}
	if err := e.Use(l.Name, l.PodmanFolder()); err != nil {
		return nil, err
	}
	c, err := install.Connect(os.Getenv("LAB_KUBECONFIG"), pins)
	if err != nil {
		return nil, err
	}
	c.Node = (&kindcluster.Cluster{Name: l.Name, Engine: e}).Exec
	return c, nil
}

func gpuPod(name string, pins fixtures.Pins) *corev1.Pod {
	// Not 0: that would free the device in the scheduler's eyes before kubelet has it back.
	second := int64(1)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: proofNamespace, Name: name},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &second, Containers: []corev1.Container{{
			Name: "holder", Image: pins.Image, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sleep", "3600"},
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceName(pins.GPUResource): resource.MustParse("1")}},
		}}},
	}
}

func proofPods(ctx context.Context, c *install.Cluster) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := c.List(ctx, pods, client.InNamespace(proofNamespace))
	return pods.Items, err
}

// phases are the pods' phases, sorted.
func phases(ctx context.Context, c *install.Cluster) (string, error) {
	pods, err := proofPods(ctx, c)
	var phases []string
	for _, pod := range pods {
		phases = append(phases, string(pod.Status.Phase))
	}
	slices.Sort(phases)
	return strings.Join(phases, " "), err
}

// devices asks every running pod for its device; it returns the pod that has
// none and the name of each device's pod.
func devices(ctx context.Context, c *install.Cluster, g Gomega) (waiting string, holders map[string]string) {
	pods, err := proofPods(ctx, c)
	g.Expect(err).NotTo(HaveOccurred())
	inside, err := resources.New(c.Rest)
	g.Expect(err).NotTo(HaveOccurred())
	holders = map[string]string{}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning {
			waiting = pod.Name
			continue
		}
		var said, problems bytes.Buffer
		g.Expect(inside.ExecInPod(ctx, proofNamespace, pod.Name, "holder", []string{"sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES"}, &said, &problems)).
			To(Succeed(), problems.String())
		holders[strings.TrimSpace(said.String())] = pod.Name
	}
	return waiting, holders
}

func whyPending(ctx context.Context, c *install.Cluster, name string) (string, error) {
	pod := &corev1.Pod{}
	err := c.Get(ctx, client.ObjectKey{Namespace: proofNamespace, Name: name}, pod)
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled {
			return condition.Reason + ": " + condition.Message, err
		}
	}
	return "", err
}

func allocatable(ctx context.Context, c *install.Cluster, pins fixtures.Pins) (int64, error) {
	nodes := &corev1.NodeList{}
	err := c.List(ctx, nodes)
	total := int64(0)
	for _, node := range nodes.Items {
		total += node.Status.Allocatable.Name(corev1.ResourceName(pins.GPUResource), resource.DecimalSI).Value()
	}
	return total, err
}

// switchHealth tells the plugin that a device is well or not.
func switchHealth(ctx context.Context, c *install.Cluster, device, health string) error {
	return askPlugins(ctx, c, "devices/"+device, "--request", "PUT", "--data", health)
}

// askPlugins sends every plugin an HTTP request, from its node.
func askPlugins(ctx context.Context, c *install.Cluster, path string, options ...string) error {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(install.GpuNamespace), client.MatchingLabels{"app": install.GpuDaemonSet}); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		curl := append([]string{"curl", "--fail", "--silent", "--show-error", "--max-time", "5"}, options...)
		said, err := c.Node(ctx, append(curl, "http://"+pod.Status.PodIP+":9401/"+path)...)
		if err != nil {
			return fmt.Errorf("asking the device plugin for %s: %w: %s", path, err, said)
		}
	}
	return nil
}
