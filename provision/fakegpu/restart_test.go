package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/wait"
)

// healthz returns the status of GET /healthz, for Eventually.
func (r *running) healthz() int {
	recorder := httptest.NewRecorder()
	newHandler(r.plugin).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	return recorder.Code
}

func TestHealthzFollowsKubelet(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	p := startPlugin(t, directory)
	g.Eventually(p.tie.state).Should(MatchError(ContainSubstring("kubelet is not there")))
	g.Expect(p.healthz()).To(Equal(http.StatusServiceUnavailable))

	kubelet := startKubelet(t, directory)
	g.Eventually(p.healthz).Should(Equal(http.StatusOK))

	// A killed kubelet leaves all files where they were.
	kubelet.kill()
	g.Eventually(p.healthz).Should(Equal(http.StatusServiceUnavailable))
	g.Expect(filepath.Join(directory, "kubelet.sock")).To(BeAnExistingFile())

	next := startKubelet(t, directory)
	g.Eventually(p.healthz).Should(Equal(http.StatusOK))
	g.Eventually(next.allocatable).Should(Equal(allHealthy))
}

// Each sign alone must be enough: on a node it may come without the others, or
// long before them.
func TestRegistersAgain(t *testing.T) {
	begin := func(t *testing.T) (*WithT, *fakeKubelet, *running) {
		g := NewWithT(t)
		kubelet := startKubelet(t, socketDirectory(t))
		p := startPlugin(t, kubelet.directory)
		g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
		return g, kubelet, p
	}
	t.Run("when its own socket is removed", func(t *testing.T) {
		g, kubelet, p := begin(t)
		g.Expect(os.Remove(filepath.Join(kubelet.directory, p.endpoint()))).To(Succeed())
		g.Eventually(kubelet.registrations).Should(Equal(2))
		g.Eventually(kubelet.openStreams).Should(Equal(1))
	})
	t.Run("when the directory is wiped, though the old connection still stands", func(t *testing.T) {
		g, kubelet, _ := begin(t)
		next := startKubelet(t, kubelet.directory)
		g.Eventually(next.allocatable).Should(Equal(allHealthy))
		g.Eventually(kubelet.openStreams).Should(Equal(0))
	})
	t.Run("when kubelet's socket alone is new", func(t *testing.T) {
		g, kubelet, _ := begin(t)
		next := startKubelet(t, kubelet.directory, func(k *fakeKubelet) { k.tidy = true })
		g.Eventually(next.allocatable).Should(Equal(allHealthy))
		g.Eventually(kubelet.openStreams).Should(Equal(0))
	})
	t.Run("when kubelet drops the plugin", func(t *testing.T) {
		g, kubelet, _ := begin(t)
		g.Expect(kubelet.hangUp()).To(Succeed())
		g.Eventually(kubelet.registrations).Should(Equal(2))
		g.Eventually(kubelet.openStreams).Should(Equal(1))
	})
	t.Run("when the whole directory is made anew", func(t *testing.T) {
		g, kubelet, p := begin(t)
		kubelet.kill()
		g.Expect(os.RemoveAll(kubelet.directory)).To(Succeed())
		g.Eventually(p.tie.state).Should(MatchError(And(ContainSubstring("watching"), ContainSubstring("--directory"))))
		g.Expect(os.Mkdir(kubelet.directory, 0o700)).To(Succeed())
		next := startKubelet(t, kubelet.directory)
		g.Eventually(next.allocatable).Should(Equal(allHealthy))
	})
	t.Run("time and again", func(t *testing.T) {
		g, kubelet, p := begin(t)
		for range 5 {
			kubelet.kill()
			kubelet = startKubelet(t, kubelet.directory)
			g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
			g.Eventually(p.healthz).Should(Equal(http.StatusOK))
		}
	})
}

func TestAKubeletThatNeverAsksForTheDevices(t *testing.T) {
	g := NewWithT(t)
	kubelet := startKubelet(t, socketDirectory(t), func(k *fakeKubelet) { k.deaf = true })
	p := startPlugin(t, kubelet.directory, func(p *plugin) { p.listWithin = 20 * time.Millisecond })
	g.Eventually(kubelet.registrations).Should(BeNumerically(">=", 3))
	g.Expect(p.healthz()).To(Equal(http.StatusServiceUnavailable))
	g.Expect(p.journal.lines()).To(ConsistOf(ContainSubstring("did not ask for the devices within 20ms")))
}

func TestAKubeletThatAskedIsNotDisturbed(t *testing.T) {
	g := NewWithT(t)
	kubelet := startKubelet(t, socketDirectory(t))
	p := startPlugin(t, kubelet.directory, func(p *plugin) { p.listWithin = 50 * time.Millisecond })
	g.Eventually(p.tie.state).Should(Succeed())
	registrations := kubelet.registrations()
	g.Consistently(kubelet.registrations, 3*p.listWithin).Should(Equal(registrations))
}

func TestARefusalIsReportedOnceAndTriedWithPauses(t *testing.T) {
	g := NewWithT(t)
	kubelet := startKubelet(t, socketDirectory(t), func(k *fakeKubelet) {
		k.refusal = errors.New("no room for GPUs")
	})
	pauses := []time.Duration{20 * time.Millisecond, 40 * time.Millisecond, 80 * time.Millisecond, 80 * time.Millisecond}
	p := startPlugin(t, kubelet.directory, func(p *plugin) {
		p.backoff = wait.Backoff{Duration: pauses[0], Factor: 2, Steps: 10, Cap: pauses[2]}
	})
	g.Eventually(kubelet.registrations).Should(BeNumerically(">", len(pauses)))
	arrivals := kubelet.seen().arrivals
	for i, pause := range pauses {
		g.Expect(arrivals[i+1].Sub(arrivals[i])).To(BeNumerically(">=", pause), "pause %d", i)
	}
	g.Expect(p.journal.lines()).To(ConsistOf(And(
		ContainSubstring("not registered"), ContainSubstring("no room for GPUs"), ContainSubstring(kubelet.directory))))
	g.Expect(p.tie.state()).To(MatchError(ContainSubstring("no room for GPUs")))

	// A cause that comes back after a good time is told again.
	kubelet.kill()
	next := startKubelet(t, kubelet.directory)
	g.Eventually(p.journal.lines).Should(ContainElement(ContainSubstring("registered with kubelet")))
	next.kill()
	startKubelet(t, kubelet.directory, func(k *fakeKubelet) { k.refusal = kubelet.refusal })
	g.Eventually(p.journal.lines).Should(ContainElements(
		ContainSubstring("no room for GPUs"), ContainSubstring("no room for GPUs")))
}

func TestTheAbsenceOfKubeletIsReportedOnce(t *testing.T) {
	g := NewWithT(t)
	directory := socketDirectory(t)
	p := startPlugin(t, directory, func(p *plugin) { p.backoff = wait.Backoff{Duration: time.Millisecond} })
	g.Eventually(p.journal.lines).Should(ConsistOf(ContainSubstring("kubelet is not there")))
	g.Consistently(p.journal.lines, 50*time.Millisecond).Should(HaveLen(1))
	kubelet := startKubelet(t, directory)
	g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
	g.Eventually(p.journal.lines).Should(ContainElement("registered with kubelet: nvidia.com/gpu, devices gpu-0, gpu-1, gpu-2, gpu-3"))
}
