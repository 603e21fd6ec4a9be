package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/images"
)

// What goes wrong with a pull, and what is told of it: testdata/troubles.txt, to
// be read aloud. Each is told at once, but for what may pass by itself.
func TestWhatIsReportedOfAPullThatFails(t *testing.T) {
	const blob, manifest = "/blobs/", "/manifests/"
	instead := func(of func(path string) bool, content string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && of(r.URL.Path) {
				fmt.Fprint(w, content)
				return true
			}
			return false
		}
	}
	isLayer := func(path string) bool { return strings.HasSuffix(path, layerHex) }
	isConfig := func(path string) bool { return strings.Contains(path, blob) && !isLayer(path) }
	var messages strings.Builder
	for _, trouble := range []struct {
		name, ref, digest string
		spoil             func(http.ResponseWriter, *http.Request) bool
		tries             int // requests for the spoilt thing
		spoilt            string
	}{
		{name: "a missing tag", ref: "docker.io/library/busybox:1.99.0", tries: 1, spoilt: manifest},
		{name: "a missing repository", ref: "registry.k8s.io/no/such:v1", tries: 1, spoilt: manifest},
		{name: "a pull that is refused without a login", ref: busybox, spoil: answering(manifest, 401), tries: 1, spoilt: manifest},
		{name: "a pull that is denied", ref: busybox, spoil: answering(manifest, 403), tries: 1, spoilt: manifest},
		{name: "a whole registry that is denied", ref: busybox, spoil: answering("/v2/", 403), tries: 1, spoilt: "/v2/"},
		{name: "a layer that is denied", ref: busybox, spoil: answering("/blobs/sha256:"+layerHex, 403), tries: 1, spoilt: layerHex},
		{name: "a rate limit", ref: busybox, spoil: answering(manifest, 429), tries: 1, spoilt: manifest},
		{name: "another image than was pinned", ref: busybox, digest: "sha256:" + strings.Repeat("0", 64), tries: 1, spoilt: manifest},
		{name: "another layer than the manifest says", ref: busybox, spoil: instead(isLayer, strings.ToUpper(large)), tries: 1, spoilt: layerHex},
		{name: "another configuration than the manifest says", ref: busybox, spoil: instead(isConfig, strings.Repeat("{", 243)), tries: 1, spoilt: blob},
		{name: "an image for other machines", ref: "docker.io/library/foreign:1", tries: 1, spoilt: manifest},
		{name: "a registry that is ill throughout", ref: busybox, spoil: answering(manifest, 500), tries: 4, spoilt: manifest},
		{name: "a layer that never comes", ref: busybox, spoil: answering("/blobs/sha256:"+layerHex, 503), tries: 4, spoilt: layerHex},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newFakeRegistry(t)
			s.has(t, busybox, large, here)
			s.has(t, "docker.io/library/foreign:1", large, "s390x")
			c := s.client(t)
			s.requests, s.spoil = nil, trouble.spoil
			_, err := c.Pull(t.Context(), trouble.ref, trouble.digest)
			g.Expect(err).To(HaveOccurred())
			fmt.Fprintf(&messages, "== %s\n%s\n\n", trouble.name, strings.ReplaceAll(err.Error(), s.host(), "MIRROR"))
			g.Expect(s.count(trouble.spoilt)).To(Equal(trouble.tries), "requests")
		})
	}
	golden(t, "troubles.txt", messages.String())
}

// layerHex is the digest of the layer that holds large.
var layerHex = func() string {
	hash, _, err := v1.SHA256(strings.NewReader(large))
	if err != nil {
		panic(err)
	}
	return hash.Hex
}()

func TestAnotherManifestThanTheDigestAskedFor(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	wanted, err := s.has(t, "docker.io/library/wanted:1", "wanted", here).Digest()
	g.Expect(err).NotTo(HaveOccurred())
	other, err := s.has(t, "docker.io/library/wanted:2", "other", here).RawManifest()
	g.Expect(err).NotTo(HaveOccurred())
	c := s.client(t)
	s.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		_, err := w.Write(other)
		g.Expect(err).NotTo(HaveOccurred())
		return true
	}
	_, err = c.Pull(t.Context(), "docker.io/library/wanted:1@"+wanted.String(), "")
	g.Expect(err).To(MatchError(And(ContainSubstring("gave another docker.io/library/wanted:1@"), ContainSubstring(", not "+wanted.String()))))
}

func TestHostsThatCannotBeAsked(t *testing.T) {
	var messages strings.Builder
	ask := func(title, address string, c *Client) {
		_, err := c.Fetch(t.Context(), "https://github.com/kubernetes-sigs/jobset/releases/download/v0.13.0/manifests.yaml")
		if err == nil {
			t.Errorf("%s: it was fetched", title)
			return
		}
		fmt.Fprintf(&messages, "== %s\n%s\n\n", title, strings.ReplaceAll(err.Error(), address, "MIRROR"))
	}
	s := newFakeRegistry(t)
	c := s.client(t)
	c.web.DialContext = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "mirror.example", IsNotFound: true}}
	}
	ask("a name that is not known", s.host(), c)
	c = s.client(t)
	s.Close()
	ask("nobody listens", s.host(), c)

	secret := httptest.NewTLSServer(http.NotFoundHandler())
	defer secret.Close()
	secret.Config.ErrorLog = s.Config.ErrorLog
	c = quick(NewClient(Mirrors{Mirror: secret.URL}, t.TempDir(), func(string) {}))
	ask("a certificate of somebody else", strings.TrimPrefix(secret.URL, "https://"), c)

	for title, code := range map[string]int{"a download that is not there": 404, "a download that is denied": 403, "a download site that is ill": 502} {
		s := newFakeRegistry(t)
		s.spoil = answering("/", code)
		var one strings.Builder
		_, err := s.client(t).Fetch(t.Context(), "https://github.com/x/y.yaml")
		fmt.Fprintf(&one, "%v", err)
		wanted := map[int]string{404: "has no https://github.com/x/y.yaml (404 Not Found)", 403: "docker login " + s.host(), 502: "tried 4 times"}[code]
		if !strings.Contains(one.String(), wanted) {
			t.Errorf("%s: it does not say %q: %s", title, wanted, one.String())
		}
	}
	golden(t, "hosts.txt", messages.String())
}

// A full disk, without filling one: whatever is written to /dev/full does not fit.
func TestAFullDisk(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	s.has(t, busybox, large, here)
	cache := images.Cache{Dir: t.TempDir()}
	_, _, err := cache.Entry(t.Context(), "registry", images.KeyOf("x"), func(string) {}, func(ctx context.Context, dir string) error {
		c := s.client(t)
		g.Expect(os.Symlink("/dev/full", filepath.Join(c.folder, "sha256-"+layerHex+".half"))).To(Succeed())
		_, err := c.Pull(ctx, busybox, "")
		return err
	})
	g.Expect(err).To(MatchError(And(ContainSubstring("no space left on device"), ContainSubstring("the disk of "+cache.Dir+" is full; free some"))))
	g.Expect(s.count(layerHex)).To(Equal(1), "no waiting frees a disk")
}

func TestAnInterruptEndsThePauseBetweenTries(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		interrupt()
		return answering("/", 500)(w, r)
	}
	c := s.client(t)
	c.pause = firstPause * 1000
	_, err := c.Fetch(ctx, "https://github.com/x/y.yaml")
	g.Expect(errors.Is(err, context.Canceled)).To(Equal(true), "%v", err)
}
