package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
)

// ErrOnlyReads is why a client that only reads does not do something.
var ErrOnlyReads = errors.New("this client only reads")

// A reading lets through what only reads: get, list and watch, which are all
// GET. To exec, attach or forward ports can be a GET too, one that asks for
// another protocol, and so can what goes through a proxy to a pod.
type reading struct{ next http.RoundTripper }

func OnlyReading(next http.RoundTripper) http.RoundTripper { return reading{next} }

// RoundTrip sends a request that only reads. Any other is an error, and nothing
// of it leaves this process.
func (r reading) RoundTrip(request *http.Request) (*http.Response, error) {
	switch {
	case request.Method != http.MethodGet, request.Header.Get("Upgrade") != "", throughAPod[lastPart(request.URL.Path)]:
		return nil, fmt.Errorf("%w, and was about to %s %s", ErrOnlyReads, request.Method, request.URL.Path)
	}
	return r.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go cancel what goes through.
func (r reading) WrappedRoundTripper() http.RoundTripper { return r.next }

// throughAPod are the subresources with which a GET does something in a pod.
var throughAPod = map[string]bool{"exec": true, "attach": true, "portforward": true, "proxy": true}

// lastPart is the subresource of a path, if it has one. What is behind "proxy"
// is the pod's own path.
func lastPart(path string) string {
	for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
		if filepath.Base(at) == "proxy" {
			return "proxy"
		}
	}
	return filepath.Base(path)
}
