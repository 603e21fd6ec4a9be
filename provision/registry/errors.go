package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"gsb.test/jobset-e2e/provision/images"
)

// Elsewhere is the fix where a host cannot be used at all.
const Elsewhere = "pull through a mirror: LAB_MIRROR=http://host:port; or build from source: LAB_IMAGES=source;\n" +
	"   or bring the images from a machine that has them: .lab/bin/lab images save, .lab/bin/lab images load"

// suspectTampering is the fix where bytes differ from their digest.
const suspectTampering = "somebody changed it, there or on the way; do not use it before you know who"

// request is what is requested, by its original name, and the host.
type request struct{ what, host string }

// userError is an error with its reason in one sentence and its fix.
type userError struct {
	reason, fix string
	cause       error
}

func (t *userError) Error() string {
	if t.fix == "" {
		return t.reason
	}
	return t.reason + "\n   " + t.fix
}
func (t *userError) Unwrap() error { return t.cause }

// transientError is an error that may go away.
type transientError struct{ error }

func (p transientError) Unwrap() error { return p.error }

// status is an unexpected HTTP status.
type status int

func (s status) Error() string { return fmt.Sprintf("%d %s", int(s), http.StatusText(int(s))) }

// classify sorts an error: a transient one may be retried; any other gets its reason
// and fix at once.
func (a request) classify(err error) error {
	var already *userError
	var again transientError
	switch {
	case err == nil || errors.As(err, &already) || errors.As(err, &again) || errors.Is(err, context.Canceled):
		return err
	case images.NoSpace(err):
		return err // the cache says which disk
	case strings.Contains(err.Error(), "error verifying sha256 checksum"): // the library has no type for it
		return &userError{fmt.Sprintf("%s gave something else for %s than its digest says: %v", a.host, a.what, rootCause(err)), suspectTampering, err}
	}
	var refused *transport.Error
	var code status
	if errors.As(err, &refused) {
		code = status(refused.StatusCode)
	} else if !errors.As(err, &code) {
		code = 0
	}
	var unknown *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case code == http.StatusNotFound:
		return &userError{fmt.Sprintf("%s has no %s (%s)", a.host, a.what, code),
			"the version may be wrong: fixtures/lab/versions.yaml, provision/registry/sources.yaml; a mirror must hold it below its original host's name", err}
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusProxyAuthRequired:
		return &userError{fmt.Sprintf("%s does not give %s to us (%s)", a.host, a.what, code), "log in: docker login " + a.host + "; or " + Elsewhere, err}
	case code == http.StatusTooManyRequests:
		return &userError{fmt.Sprintf("%s has given too much to this address already, and no %s now (%s)", a.host, a.what, code),
			"log in, which raises the limit: docker login " + a.host + "; or " + Elsewhere, err}
	case code >= http.StatusInternalServerError || code == http.StatusRequestTimeout:
		return transientError{fmt.Errorf("%s answered %w", a.host, code)}
	case code != 0:
		return &userError{fmt.Sprintf("%s answered %s, asked for %s", a.host, code, a.what), Elsewhere, err}
	case errors.As(err, &certificate):
		return &userError{fmt.Sprintf("what answers for %s has not its certificate: %s", a.host, rootCause(certificate)), "a proxy may stand between; " + Elsewhere, err}
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return &userError{fmt.Sprintf("the name %s is not known here: %s", a.host, rootCause(err)), "is there a network? If not: " + Elsewhere, err}
	}
	return transientError{err}
}

// rootCause is an error's innermost text: those around it repeat the address.
func rootCause(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// retry repeats do until it succeeds, fails for good, or has had its tries.
func (c *Client) retry(ctx context.Context, a request, do func() error) error {
	began := time.Now()
	for try := 1; ; try++ {
		err := a.classify(do())
		var again transientError
		if !errors.As(err, &again) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if try == tries {
			return &userError{fmt.Sprintf("%s could not be had from %s: tried %d times in %s; the last time: %v",
				a.what, a.host, try, time.Since(began).Round(time.Second), rootCause(again.error)),
				"run it again, what was pulled is kept; if it stays so, " + Elsewhere, err}
		}
		c.progress.note(fmt.Sprintf("%s: %s; trying again", a.what, rootCause(again.error)))
		pause := time.NewTimer(c.pause << (try - 1))
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
}

// tries and firstPause bound the retries: the pauses are 0.5, 1 and 2 s.
const (
	tries      = 4
	firstPause = 500 * time.Millisecond
)
