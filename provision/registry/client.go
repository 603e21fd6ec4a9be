// Package registry makes the image set of a lab from releases: kind's node image, the
// images and manifests of JobSet and Kueue, and the steps' image. Only the device
// plugin is built. It needs neither root nor Debian.
//
// Images are pulled with go-containerregistry. This package adds what the library
// leaves open: partial layers stay on disk, so that an interrupted pull continues, and
// failures are sorted into those to retry and those to report.
package registry

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Client sends requests to registries and download sites, or to their mirrors.
type Client struct {
	mirrors  Mirrors
	folder   string // of pulled layers, whole and half
	keychain authn.Keychain
	web      *http.Transport
	pause    time.Duration
	progress *progress
	// digests are the pulled digests by name: what the registry answers, the index's for
	// several architectures.
	digests map[string]string
}

// NewClient returns a client that keeps pulled parts in folder. It uses the
// credentials of the Docker configuration.
func NewClient(mirrors Mirrors, folder string, say func(string)) *Client {
	web := http.DefaultTransport.(*http.Transport).Clone()
	// A host that accepts no connection within this time is reported as such.
	web.DialContext = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	web.ResponseHeaderTimeout = 30 * time.Second
	return &Client{mirrors: mirrors, folder: folder, keychain: authn.DefaultKeychain, web: web, pause: firstPause,
		progress: &progress{say: say}, digests: map[string]string{}}
}

// Pull fetches an image for this machine and writes every layer to disk. digest is the
// known one, sha256:…, of the image or its index; empty if unknown.
func (c *Client) Pull(ctx context.Context, ref, digest string) (v1.Image, error) {
	at, err := c.mirrors.image(ref)
	if err != nil {
		return nil, err
	}
	a := request{ref, at.Context().RegistryStr()}
	var image v1.Image
	var tripper http.RoundTripper
	if err := c.retry(ctx, a, func() (err error) {
		if tripper, err = c.open(ctx, at.Context()); err != nil {
			return err
		}
		image, err = c.describe(ctx, tripper, at, a, digest)
		return err
	}); err != nil {
		return nil, err
	}
	return c.layers(ctx, tripper, at.Context(), a, image)
}

// open authenticates for a repository.
func (c *Client) open(ctx context.Context, repository name.Repository) (http.RoundTripper, error) {
	auth, err := authn.Resolve(ctx, c.keychain, repository)
	if err != nil {
		return nil, &userError{fmt.Sprintf("the Docker configuration's credentials for %s: %v", repository.RegistryStr(), err), "docker login " + repository.RegistryStr(), err}
	}
	return transport.NewWithContext(ctx, repository.Registry, auth, c.roundTripper(repository.Registry), []string{repository.Scope(transport.PullScope)})
}

// roundTripper is the transport to a registry. The library falls back to plain HTTP if
// an address is private and TLS fails; here that needs a setting, because credentials
// are sent too.
func (c *Client) roundTripper(registry name.Registry) http.RoundTripper {
	if c.mirrors.plain(registry.RegistryStr()) {
		return c.web
	}
	return onlyTLS{c.web}
}

type onlyTLS struct{ http.RoundTripper }

func (o onlyTLS) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" {
		return nil, fmt.Errorf("%s is to be asked with TLS only", request.URL.Host)
	}
	return o.RoundTripper.RoundTrip(request)
}

// describe fetches an image's manifest and configuration and checks them.
func (c *Client) describe(ctx context.Context, tripper http.RoundTripper, at name.Reference, a request, digest string) (v1.Image, error) {
	// The transport is ready, so that the library neither authenticates nor retries.
	options := []remote.Option{remote.WithContext(ctx), remote.WithTransport(tripper),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH})}
	found, err := remote.Get(at, options...)
	if err != nil {
		return nil, a.orMismatch(at, err)
	}
	image, err := found.Image()
	if err != nil {
		return nil, a.orOtherPlatform(err)
	}
	own, err := image.Digest()
	if err != nil {
		return nil, err
	}
	if digest != "" && found.Digest.String() != digest && own.String() != digest {
		return nil, a.mismatch(digest, found.Digest.String())
	}
	c.digests[a.what] = found.Digest.String()
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	if config.Architecture != runtime.GOARCH {
		return nil, a.orOtherPlatform(fmt.Errorf("no child with platform: it is for %s", config.Architecture))
	}
	return image, nil
}

// Fetch downloads a file of at most a few megabytes.
func (c *Client) Fetch(ctx context.Context, address string) (content []byte, err error) {
	at := c.mirrors.download(address)
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	a := request{address, get.URL.Host}
	if err := c.identify(ctx, get); err != nil {
		return nil, err
	}
	err = c.retry(ctx, a, func() error {
		answer, err := (&http.Client{Transport: c.web}).Do(get)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return status(answer.StatusCode)
		}
		if content, err = io.ReadAll(io.LimitReader(answer.Body, fetchLimit+1)); err != nil {
			return err
		}
		if len(content) > fetchLimit {
			return &userError{fmt.Sprintf("%s is larger than any manifest: more than %d MB", address, fetchLimit>>20), Elsewhere, nil}
		}
		return nil
	})
	return content, err
}

// fetchLimit is an order of magnitude above Kueue's manifests, the largest.
const fetchLimit = 32 << 20

// identify adds the Docker configuration's credentials for the host, which a mirror
// may require for files too.
func (c *Client) identify(ctx context.Context, request *http.Request) error {
	host, err := name.NewRegistry(request.URL.Host)
	if err != nil {
		return err
	}
	auth, err := authn.Resolve(ctx, c.keychain, host)
	if err != nil {
		return fmt.Errorf("the Docker configuration's credentials for %s: %w", request.URL.Host, err)
	}
	credentials, err := authn.Authorization(ctx, auth)
	if err != nil {
		return fmt.Errorf("the Docker configuration's credentials for %s: %w", request.URL.Host, err)
	}
	if credentials.Username != "" {
		request.SetBasicAuth(credentials.Username, credentials.Password)
	}
	return nil
}

// pulled is the file of a complete layer.
func (c *Client) pulled(digest v1.Hash) string {
	return filepath.Join(c.folder, digest.Algorithm+"-"+digest.Hex)
}
