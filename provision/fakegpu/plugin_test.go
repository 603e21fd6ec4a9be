package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/wait"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// TestMain gives a slow machine time; on a quick one no test comes near it.
func TestMain(m *testing.M) {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(2 * time.Millisecond)
	os.Exit(m.Run())
}

var allHealthy = map[string]string{"gpu-0": "Healthy", "gpu-1": "Healthy", "gpu-2": "Healthy", "gpu-3": "Healthy"}

// socketDirectory is a directory whose path is short enough for sockets, which
// t.TempDir's, made from the test's name, need not be.
func socketDirectory(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "gpu")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	return directory
}

// running is a plugin that runs until the test ends or stop is called; stop
// returns when run has returned.
type running struct {
	*plugin
	journal *journal
	stop    func()
}

func startPlugin(t *testing.T, directory string, change ...func(*plugin)) *running {
	t.Helper()
	r := &running{journal: &journal{}}
	p, err := newPlugin("nvidia.com/gpu", directory, newDevices(4), log.New(r.journal, "", 0))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	p.backoff = wait.Backoff{Duration: 5 * time.Millisecond, Factor: 2, Steps: 10, Cap: 50 * time.Millisecond}
	for _, c := range change {
		c(p)
	}
	r.plugin = p
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { p.run(ctx) })
	r.stop = func() { cancel(); done.Wait() }
	t.Cleanup(r.stop)
	return r
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Split(strings.TrimSuffix(j.text.String(), "\n"), "\n")
}

func TestRegistersFourStableDevices(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	kubelet := startKubelet(t, directory)
	p := startPlugin(t, directory)

	g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
	g.Eventually(p.tie.state).Should(Succeed())
	request := kubelet.seen().requests[0]
	g.Expect(request.GetResourceName()).To(Equal("nvidia.com/gpu"))
	g.Expect(request.GetVersion()).To(Equal("v1beta1"))
	g.Expect(request.GetEndpoint()).To(Equal("fake-nvidia.com-gpu.sock"))
	g.Expect(filepath.Join(directory, request.GetEndpoint())).To(BeAnExistingFile())
	for _, options := range []*pluginapi.DevicePluginOptions{request.GetOptions(), kubelet.seen().options} {
		g.Expect(options.GetPreStartRequired()).To(Equal(false))
		g.Expect(options.GetGetPreferredAllocationAvailable()).To(Equal(false))
	}
	g.Expect(kubelet.seen().order).To(Equal([]string{"gpu-0", "gpu-1", "gpu-2", "gpu-3"}))
	g.Expect(kubelet.registrations()).To(Equal(1))

	// The next life offers the same ids, under the same endpoint.
	p.stop()
	g.Eventually(kubelet.allocatable).Should(BeNil())
	startPlugin(t, directory)
	g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
	g.Expect(kubelet.seen().requests[1].GetEndpoint()).To(Equal(request.GetEndpoint()))
}

func TestSendsTheListAgainOnEveryHealthChange(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	kubelet := startKubelet(t, directory)
	p := startPlugin(t, directory)
	g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))

	for range 3 {
		g.Expect(p.devices.setHealth("gpu-2", pluginapi.Unhealthy)).To(Equal(true))
		g.Eventually(kubelet.allocatable).Should(Equal(map[string]string{
			"gpu-0": "Healthy", "gpu-1": "Healthy", "gpu-2": "Unhealthy", "gpu-3": "Healthy"}))
		g.Expect(p.devices.setHealth("gpu-2", pluginapi.Healthy)).To(Equal(true))
		g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
	}
	g.Expect(kubelet.seen().lists).To(HaveLen(7), "the first list and one a change, on the one stream")
	g.Expect(kubelet.registrations()).To(Equal(1))
}

func TestHealthOutlivesARegistration(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	p := startPlugin(t, directory)
	g.Expect(p.devices.setHealth("gpu-1", pluginapi.Unhealthy)).To(Equal(true))
	kubelet := startKubelet(t, directory)
	g.Eventually(kubelet.allocatable).Should(HaveKeyWithValue("gpu-1", "Unhealthy"))
}

func TestTwoPluginsNeverServeOneResource(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	kubelet := startKubelet(t, directory)
	first := startPlugin(t, directory)
	g.Eventually(first.tie.state).Should(Succeed())

	second := startPlugin(t, directory)
	g.Eventually(second.tie.state).Should(MatchError(ContainSubstring("another plugin is serving")))
	g.Expect(first.tie.state()).To(Succeed())
	g.Expect(kubelet.registrations()).To(Equal(1))

	first.stop()
	g.Eventually(second.tie.state).Should(Succeed())
	g.Expect(kubelet.registrations()).To(Equal(2))
	g.Eventually(kubelet.openStreams).Should(Equal(1))
}

func TestStoppingEndsEverything(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	kubelet := startKubelet(t, directory)
	p := startPlugin(t, directory)
	g.Eventually(p.tie.state).Should(Succeed())
	kubelet.kill()
	p.stop()

	before := gleak.Goroutines()
	kubelet = startKubelet(t, directory)
	p = startPlugin(t, directory)
	g.Eventually(p.tie.state).Should(Succeed())
	p.stop()
	g.Expect(p.tie.open).To(Equal(0), "run returns only after the last stream has ended")
	g.Eventually(kubelet.openStreams).Should(Equal(0))
	g.Expect(filepath.Join(directory, "fake-nvidia.com-gpu.sock")).NotTo(BeAnExistingFile())
	g.Expect(p.tie.state()).To(MatchError(ContainSubstring("stopping")))
	_, err := kubelet.client().GetDevicePluginOptions(context.Background(), &pluginapi.Empty{})
	g.Expect(status.Code(err)).To(BeElementOf(codes.Unavailable, codes.Canceled))
	kubelet.kill()
	g.Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
}
