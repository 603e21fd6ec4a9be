package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// longestHealth is more than any health word needs, in bytes.
const longestHealth = 64

// newHandler answers over HTTP: is the plugin registered (for kubelet's
// probes), which devices are there and how are they, and switch one of them
// (for tests).
//
//	GET /healthz        200 while registered with the kubelet that runs now, else 503; the body says why
//	GET /devices        [{"id": "gpu-0", "health": "Healthy"}, ...]
//	PUT /devices/gpu-2  the body is Healthy or Unhealthy; 404 for another id, 400 for another word
func newHandler(p *plugin) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := p.tie.state(); err != nil {
			http.Error(w, "not registered: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, "registered: kubelet lists %s from %s\n", p.resource, p.endpoint())
	})
	mux.HandleFunc("GET /devices", func(w http.ResponseWriter, _ *http.Request) {
		table, _ := p.devices.list()
		answer(w, table)
	})
	mux.HandleFunc("PUT /devices/{id}", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestHealth))
		if err != nil {
			http.Error(w, fmt.Sprintf("reading the health word: %v", err), http.StatusBadRequest)
			return
		}
		wanted := device{ID: r.PathValue("id"), Health: strings.TrimSpace(string(body))}
		changed, err := p.devices.setHealth(wanted.ID, wanted.Health)
		switch {
		case errors.Is(err, errUnknownDevice):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			if changed {
				p.log.Printf("%s is now %s", wanted.ID, wanted.Health)
			}
			answer(w, wanted)
		}
	})
	return mux
}

// answer writes a value as JSON. A client that has gone away is its own loss.
func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}
