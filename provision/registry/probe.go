package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// answerTime is how long a host may take to answer.
const answerTime = 3 * time.Second

// Answer is the result for one host or its mirror.
type Answer struct {
	// Host is the original host; At is the one that was asked.
	Host, At string
	// Err is nil if the host answers as it should.
	Err error
}

func (a Answer) String() string {
	at := a.Host
	if a.At != a.Host {
		at = fmt.Sprintf("%s (for %s)", a.At, a.Host)
	}
	if a.Err == nil {
		return at + " answers"
	}
	return at + " does not answer: " + cause(a.Err)
}

// cause is an error in few words.
func cause(err error) string {
	var refused *transport.Error
	if errors.As(err, &refused) {
		return status(refused.StatusCode).Error()
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return rootCause(certificate)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("nothing came within %s", answerTime)
	}
	return rootCause(err)
}

// Probe asks every host of a set once, in parallel, and returns the answers in a
// stable order. Nothing is remembered.
func (c *Client) Probe(ctx context.Context, s Sources) []Answer {
	var answers []Answer
	asked := map[string]bool{}
	var asks []func(context.Context) error
	add := func(host, at string, ask func(context.Context) error) {
		if !asked[host] {
			asked[host] = true
			answers, asks = append(answers, Answer{Host: host, At: at}), append(asks, ask)
		}
	}
	for _, ref := range []string{s.Node, s.JobSet.Image, s.Kueue.Image, s.Steps} {
		original, err := name.ParseReference(ref)
		if err != nil {
			add(ref, ref, func(context.Context) error { return err })
			continue
		}
		at, err := c.mirrors.image(ref)
		if err != nil {
			add(hostOf(original), ref, func(context.Context) error { return err })
			continue
		}
		add(hostOf(original), hostOf(at), func(ctx context.Context) error {
			_, err := transport.Ping(ctx, at.Context().Registry, c.roundTripper(at.Context().Registry))
			return err
		})
	}
	for _, release := range []Release{s.JobSet, s.Kueue} {
		at, err := url.Parse(c.mirrors.download(release.Manifest))
		if err != nil {
			add(release.Manifest, release.Manifest, func(context.Context) error { return err })
			continue
		}
		_, path, _ := strings.Cut(release.Manifest, "://")
		host, _, _ := strings.Cut(path, "/")
		add(host, at.Host, func(ctx context.Context) error { return c.head(ctx, at.String()) })
	}
	var all sync.WaitGroup
	for i, ask := range asks {
		all.Go(func() {
			bounded, cancel := context.WithTimeout(ctx, answerTime)
			defer cancel()
			answers[i].Err = ask(bounded)
		})
	}
	all.Wait()
	return answers
}

// head requests a file from a download site without its content. A missing file is an
// answer too; it is reported when the file is needed.
func (c *Client) head(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return err
	}
	if err := c.identify(ctx, request); err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: c.web}).Do(request)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest && answer.StatusCode != http.StatusNotFound {
		return status(answer.StatusCode)
	}
	return nil
}
