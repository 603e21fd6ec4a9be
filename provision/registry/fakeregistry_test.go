package registry

import (
	"bytes"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	. "github.com/onsi/gomega"
)

// stand is a real registry and download site on the loopback address, as a mirror
// of every host, whose answers a test can spoil.
type fakeRegistry struct {
	*httptest.Server
	files map[string]string
	// spoil answers a request itself and returns true, or leaves it be.
	spoil func(w http.ResponseWriter, r *http.Request) bool

	lock     sync.Mutex
	requests []*http.Request
}

func newFakeRegistry(t *testing.T) *fakeRegistry {
	t.Helper()
	s := &fakeRegistry{files: map[string]string{}}
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.lock.Lock()
		s.requests = append(s.requests, r)
		s.lock.Unlock()
		if s.spoil != nil && s.spoil(w, r) {
			return
		}
		if content, ok := s.files[r.URL.Path]; ok {
			_, _ = io.WriteString(w, content)
			return
		}
		images.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}

func (s *fakeRegistry) host() string { return strings.TrimPrefix(s.URL, "http://") }

// has makes the registry hold an image, and returns the image.
func (s *fakeRegistry) has(t *testing.T, ref, content, architecture string) v1.Image {
	t.Helper()
	g := NewWithT(t)
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: architecture, RootFS: v1.RootFS{Type: "layers"}})
	g.Expect(err).NotTo(HaveOccurred())
	image, err = mutate.AppendLayers(image, static.NewLayer([]byte(content), types.DockerUncompressedLayer))
	g.Expect(err).NotTo(HaveOccurred())
	to, err := name.NewTag(s.host() + "/" + ref)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.Write(to, image)).To(Succeed())
	return image
}

// client asks the stand for everything, and does not wait long between tries.
func (s *fakeRegistry) client(t *testing.T) *Client {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // the credentials of whoever runs the test are not the test's
	return quick(NewClient(Mirrors{Mirror: s.URL}, t.TempDir(), func(string) {}))
}

func quick(c *Client) *Client {
	c.pause = time.Millisecond
	return c
}

// count is how many requests for such a path there were.
func (s *fakeRegistry) count(part string) (n int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.requests {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, part) {
			n++
		}
	}
	return n
}

// answering answers every request for such a path with one status.
func answering(part string, code int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, part) {
			w.WriteHeader(code)
			return true
		}
		return false
	}
}

const (
	busybox = "docker.io/library/busybox:1.35.0"
	here    = runtime.GOARCH
)

// large is content that takes more than one packet.
var large = strings.Repeat("0123456789abcdef", 1<<16)

var update = flag.Bool("update", false, "write testdata anew")

// golden compares what is told with a file in testdata, or writes it. Digests
// differ from one kind of machine to the other.
func golden(t *testing.T, file, found string) {
	t.Helper()
	found = regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(found, "sha256:DIGEST")
	path := "testdata/" + file
	if *update {
		if err := os.WriteFile(path, []byte(found), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(wanted, []byte(found)) {
		t.Errorf("the messages differ from %s (go test ./provision/registry -update writes it); they are now:\n%s", path, found)
	}
}
