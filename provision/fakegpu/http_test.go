package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestHTTP(t *testing.T) {
	g := NewWithT(t)
	p, err := newPlugin("nvidia.com/gpu", "/nowhere", newDevices(2), log.New(io.Discard, "", 0))
	g.Expect(err).NotTo(HaveOccurred())
	handler := newHandler(p)
	const healthy = `[{"id": "gpu-0", "health": "Healthy"}, {"id": "gpu-1", "health": "Healthy"}]`
	const oneLost = `[{"id": "gpu-0", "health": "Healthy"}, {"id": "gpu-1", "health": "Unhealthy"}]`

	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
		devices            string // GET /devices thereafter
	}{
		{"GET", "/healthz", "", 503, "not registered: not tried yet", healthy},
		{"PUT", "/devices/gpu-2", "Unhealthy", 404, `unknown device "gpu-2": this node has gpu-0, gpu-1`, healthy},
		{"PUT", "/devices/gpu-1", "unhealthy", 400, `unknown health "unhealthy": a device is Healthy or Unhealthy`, healthy},
		{"PUT", "/devices/gpu-1", "", 400, `unknown health ""`, healthy},
		{"PUT", "/devices/gpu-1", strings.Repeat(" ", longestHealth) + "Unhealthy", 400, "too large", healthy},
		{"POST", "/devices/gpu-1", "Unhealthy", 405, "", healthy},
		{"PUT", "/devices", "Unhealthy", 405, "", healthy},
		{"PUT", "/devices/gpu-1", "Unhealthy", 200, `{"id":"gpu-1","health":"Unhealthy"}`, oneLost},
		{"PUT", "/devices/gpu-1", "Unhealthy\n", 200, `"Unhealthy"`, oneLost},
		{"PUT", "/devices/gpu-1", "Healthy", 200, `"Healthy"`, healthy},
	} {
		t.Run(c.method+" "+c.path+" "+strings.TrimSpace(c.body), func(t *testing.T) {
			g := NewWithT(t)
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
			g.Expect(recorder.Code).To(Equal(c.status))
			g.Expect(recorder.Body.String()).To(ContainSubstring(c.says))

			recorder = httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/devices", nil))
			g.Expect(recorder).To(HaveHTTPHeaderWithValue("Content-Type", "application/json"))
			g.Expect(recorder.Body.String()).To(MatchJSON(c.devices))
		})
	}
}
