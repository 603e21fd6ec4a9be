package lab

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// ReadSettingsToRead is ReadSettings for a look that changes nothing: no
// directory is made, none is tried by writing into it, and nothing is reported
// anywhere. A work directory that does not exist holds no file yet.
func ReadSettingsToRead(getenv func(string) string, root string) (Settings, error) {
	places := Places(getenv, root)
	settings := Settings{Kubeconfig: places.Kubeconfig, WorkDir: places.WorkDir}
	if settings.Kubeconfig == "" {
		return settings, errors.New("LAB_KUBECONFIG does not say which lab to look at.\n" + nameTheLab)
	}
	if _, err := os.Stat(settings.Kubeconfig); err != nil {
		return settings, fmt.Errorf("LAB_KUBECONFIG names a file that cannot be read: %w.\n"+nameTheLab, err)
	}
	return settings, nil
}

// nameTheLab is the mend for a kubeconfig that was not found.
const nameTheLab = "  To name one: make check LAB_KUBECONFIG=/path/to/its/kubeconfig LAB_WORKDIR=/path/to/the/learner's/files"

// errOnlyReads is why a client that only reads does not do something.
var errOnlyReads = errors.New("this client only reads")

// A reading lets through what only reads: get, list and watch, which are all
// GET. To exec, attach or forward ports can be a GET too, one that asks for
// another protocol, and so can what goes through a proxy to a pod.
type reading struct{ next http.RoundTripper }

func onlyReading(next http.RoundTripper) http.RoundTripper { return reading{next} }

// RoundTrip sends a request that only reads. Any other is an error, and nothing
// of it leaves this process.
func (r reading) RoundTrip(request *http.Request) (*http.Response, error) {
	switch {
	case request.Method != http.MethodGet, request.Header.Get("Upgrade") != "", throughAPod[lastPart(request.URL.Path)]:
		return nil, fmt.Errorf("%w, and was about to %s %s", errOnlyReads, request.Method, request.URL.Path)
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
