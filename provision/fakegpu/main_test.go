package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
)

func TestArguments(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // what is accepted by mistake ends at once
	for name, c := range map[string]struct {
		arguments []string
		status    int
		says      string
	}{
		"no device":            {[]string{"--count", "0"}, 2, "--count 0: a node offers 1 to 1024 devices"},
		"too many devices":     {[]string{"--count", "1025"}, 2, "--count 1025"},
		"count in words":       {[]string{"--count", "four"}, 2, "invalid value"},
		"no domain":            {[]string{"--resource", "gpu"}, 2, "named domain/name"},
		"kubernetes' own":      {[]string{"--resource", "node.kubernetes.io/gpu"}, 2, "outside kubernetes.io"},
		"a quota's name":       {[]string{"--resource", "requests.nvidia.com/gpu"}, 2, "outside kubernetes.io and requests.*"},
		"two slashes":          {[]string{"--resource", "nvidia.com/gpu/0"}, 2, "--resource"},
		"not a name":           {[]string{"--resource", "nvidia.com/my gpu"}, 2, "--resource"},
		"unknown flag":         {[]string{"--gpus", "4"}, 2, "--help lists the flags"},
		"stray argument":       {[]string{"4"}, 2, `unexpected argument "4"`},
		"help":                 {[]string{"--help"}, 0, "-directory"},
		"an address not ours":  {[]string{"--listen", "192.0.2.1:9401"}, 1, "--listen picks another address"},
		"a directory too long": {[]string{"--directory", "/" + string(bytes.Repeat([]byte("d"), 100))}, 1, "shorter --directory"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var output bytes.Buffer
			g.Expect(command(ended, c.arguments, &output, &output)).To(Equal(c.status))
			g.Expect(output.String()).To(ContainSubstring(c.says))
		})
	}
}

func TestAPortInUse(t *testing.T) {
	g := NewWithT(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(taken.Close()).To(Succeed()) }()
	var output bytes.Buffer
	g.Expect(command(context.Background(), []string{"--listen", taken.Addr().String()}, &output, &output)).To(Equal(1))
	g.Expect(output.String()).To(And(ContainSubstring("address already in use"), ContainSubstring("--listen picks another address")))
}

func TestTheWholeProgram(t *testing.T) {
	g := NewWithT(t)
	before := gleak.Goroutines()
	kubelet := startKubelet(t, socketDirectory(t))
	ctx, cancel := context.WithCancel(context.Background())
	output := &journal{}
	status := -1
	var program sync.WaitGroup
	program.Go(func() {
		status = command(ctx, []string{"--resource", "example.com/npu", "--count", "2", "--directory", kubelet.directory, "--listen", "127.0.0.1:0"}, output, output)
	})
	stop := func() { cancel(); program.Wait() }
	t.Cleanup(stop)

	g.Eventually(kubelet.allocatable).Should(Equal(map[string]string{"gpu-0": "Healthy", "gpu-1": "Healthy"}))
	address := regexp.MustCompile(`HTTP on (\S+)`).FindStringSubmatch(output.lines()[0])
	g.Expect(address).To(HaveLen(2), "in %q", output.lines())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	g.Eventually(func(g Gomega) {
		response, err := client.Get("http://" + address[1] + "/healthz")
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = response.Body.Close() }()
		g.Expect(response).To(And(
			HaveHTTPStatus(http.StatusOK),
			HaveHTTPBody(ContainSubstring("registered: kubelet lists example.com/npu from fake-example.com-npu.sock"))))
	}).Should(Succeed())

	stop()
	g.Expect(status).To(Equal(0))
	g.Expect(filepath.Join(kubelet.directory, "fake-example.com-npu.sock")).NotTo(BeAnExistingFile())
	_, err := client.Get("http://" + address[1] + "/healthz")
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	kubelet.kill()
	g.Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
}
