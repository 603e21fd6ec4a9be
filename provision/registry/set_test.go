package registry

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/source"
)

// deployment is a release's manifest cut down to what matters here.
func deployment(name, image string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: %[1]s-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s-controller-manager, namespace: %[1]s-system}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: manager
        image: %[2]s
        imagePullPolicy: Always
        resources: {requests: {cpu: 500m}}
`, name, image)
}

const (
	jobSetManifest = "/github.com/kubernetes-sigs/jobset/releases/download/v0.12.0/manifests.yaml"
	kueueManifest  = "/github.com/kubernetes-sigs/kueue/releases/download/v0.19.2/manifests.yaml"
)

// releases makes a stand hold everything a set is made from, and returns what pulls it.
func (s *fakeRegistry) releases(t *testing.T) Puller {
	t.Helper()
	g := NewWithT(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	node := s.has(t, "docker.io/kindest/node:v1.36.3", large, here)
	digest, err := node.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	for _, ref := range []string{busybox, "registry.k8s.io/jobset/jobset:v0.12.0", "registry.k8s.io/kueue/kueue:v0.19.2"} {
		s.has(t, ref, ref, here)
	}
	s.files[jobSetManifest] = deployment("jobset", "registry.k8s.io/jobset/jobset:v0.12.0")
	s.files[kueueManifest] = deployment("kueue", "registry.k8s.io/kueue/kueue:v0.19.2")
	mirrors := Mirrors{Mirror: s.URL, Node: "docker.io/kindest/node:v1.36.3@" + digest.String(), Versions: Versions{JobSet: "v0.12.0", Kueue: "v0.19.2"}}
	sources, err := ReadSources(fixturestest.Pins(t), mirrors)
	g.Expect(err).NotTo(HaveOccurred())
	cache := images.Cache{Dir: t.TempDir()}
	silent := func(string) {}
	return Puller{Cache: cache, Mirrors: mirrors, Sources: sources, Say: silent,
		Builder: source.Builder{Checkout: "../..", Pins: fixturestest.Pins(t), Cache: cache, Say: silent}}
}

func TestAWholeSet(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	p := s.releases(t)
	_, found, err := p.Cached(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(false))
	set, took, err := p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically(">", 0))
	g.Expect(set).To(HaveField("Kubernetes", "v1.36.3"))
	g.Expect(set).To(HaveField("JobSet", "v0.12.0"))
	g.Expect(set).To(HaveField("OwnNetwork", false), "kind's own node image has kind's network")
	g.Expect(set.From).To(HaveLen(6))
	for what, digest := range set.From {
		g.Expect(digest).To(MatchRegexp(`^sha256:[0-9a-f]{64}$`), what)
	}
	manifest, err := os.ReadFile(set.JobSetManifest)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(manifest)).To(And(ContainSubstring("imagePullPolicy: IfNotPresent"), ContainSubstring("cpu: 100m")))

	node, err := tarball.ImageFromPath(set.Archive, nil)
	g.Expect(err).NotTo(HaveOccurred())
	layers, err := node.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := layers[0].Uncompressed()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(io.ReadAll(content)).To(HaveLen(len(large)))
	g.Expect(namesIn(g, set.Images)).To(Equal(map[string]string{
		busybox:                                 set.From[busybox],
		"registry.k8s.io/jobset/jobset:v0.12.0": set.From["registry.k8s.io/jobset/jobset:v0.12.0"],
		"registry.k8s.io/kueue/kueue:v0.19.2":   set.From["registry.k8s.io/kueue/kueue:v0.19.2"],
		set.Contents[3].Ref:                     set.Contents[3].Digest,
	}), "what the node will know, by the registry's digests")
	g.Expect(filepath.Join(p.Cache.Dir, "pulled")).NotTo(BeADirectory(), "what was pulled is in the entry now")

	s.Close()
	again, took, err := p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred(), "nobody is asked for a finished set")
	g.Expect(took).To(BeZero())
	g.Expect(again).To(Equal(set))
}

// namesIn reads the index of an OCI layout in a tar.
func namesIn(g *WithT, archive string) map[string]string {
	in, err := os.Open(archive)
	g.Expect(err).NotTo(HaveOccurred())
	defer in.Close()
	names := map[string]string{}
	for reader := tar.NewReader(in); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		g.Expect(err).NotTo(HaveOccurred())
		if header.Name == "index.json" {
			var index v1.IndexManifest
			g.Expect(json.NewDecoder(reader).Decode(&index)).To(Succeed())
			for _, manifest := range index.Manifests {
				names[manifest.Annotations[containerdName]] = manifest.Digest.String()
			}
		}
	}
}

// What is no manifest of the release: testdata/manifests.txt.
func TestManifestsThatAreNone(t *testing.T) {
	var messages strings.Builder
	for _, bad := range []struct{ name, content string }{
		{"a proxy's page", "<!DOCTYPE html>\n<html><head><title>Sign in: the proxy</title></head></html>\n"},
		{"half a document", "apiVersion: v1\nkind: Namespace\nmetadata: {name"},
		{"something else in YAML", "hello: world\n"},
		{"nothing", ""},
		{"a staging registry's", deployment("jobset", "us-central1-docker.pkg.dev/k8s-staging-images/jobset/jobset:v0.12.0")},
		{"one image more", deployment("jobset", "registry.k8s.io/jobset/jobset:v0.12.0") + "---\n" + deployment("proxy", "gcr.io/kubebuilder/kube-rbac-proxy:v0.13.0")},
		{"another version's", deployment("jobset", "registry.k8s.io/jobset/jobset:v0.11.0")},
		{"an image without a tag", deployment("jobset", "registry.k8s.io/jobset/jobset")},
		{"no image", deployment("jobset", `""`)},
	} {
		t.Run(bad.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newFakeRegistry(t)
			p := s.releases(t)
			s.files[jobSetManifest] = bad.content
			_, _, err := p.Pull(t.Context())
			g.Expect(err).To(HaveOccurred())
			fmt.Fprintf(&messages, "== %s\n%v\n\n", bad.name, err)
			g.Expect(s.count("/blobs/")).To(BeZero(), "it is told before the large things are pulled")
		})
	}
	golden(t, "manifests.txt", messages.String())
}

func TestAManifestThatIsNotTheKnownOne(t *testing.T) {
	g := NewWithT(t)
	p := newFakeRegistry(t).releases(t)
	p.Sources.Digest = map[string]string{p.Sources.JobSet.Manifest: "sha256:" + strings.Repeat("0", 64)}
	_, _, err := p.Pull(t.Context())
	g.Expect(err).To(MatchError(And(ContainSubstring("gave another"), ContainSubstring("not sha256:0000"))))
}

func TestCredentialsAreTheDockerConfigurations(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	p := s.releases(t)
	s.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, ok := r.BasicAuth(); ok && user == "me" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="stand"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	_, _, err := p.Pull(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("docker login " + s.host())))
	config := t.TempDir()
	t.Setenv("DOCKER_CONFIG", config)
	g.Expect(os.WriteFile(filepath.Join(config, "config.json"), fmt.Appendf(nil, `{"auths":{%q:{"username":"me","password":"secret"}}}`, s.host()), 0o600)).To(Succeed())
	_, _, err = p.Pull(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
}

func TestWhoAnswers(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	p := s.releases(t)
	g.Expect(p.Client().Probe(t.Context(), p.Sources)).To(HaveExactElements(
		HaveField("Err", BeNil()), HaveField("Err", BeNil()), HaveField("Err", BeNil())))

	secret := httptest.NewTLSServer(http.NotFoundHandler())
	defer secret.Close()
	secret.Config.ErrorLog = s.Config.ErrorLog
	p.Mirrors.Hosts = map[string]string{"registry.k8s.io": secret.URL}
	s.spoil = answering("/github.com/", 403)
	var said []string
	for _, answer := range p.Client().Probe(t.Context(), p.Sources) {
		said = append(said, strings.NewReplacer(s.host(), "MIRROR", strings.TrimPrefix(secret.URL, "https://"), "SECRET").Replace(answer.String()))
	}
	g.Expect(said).To(HaveExactElements(
		"MIRROR (for docker.io) answers",
		"SECRET (for registry.k8s.io) does not answer: x509: certificate signed by unknown authority",
		"MIRROR (for github.com) does not answer: 403 Forbidden",
	))
	s.spoil = answering("/", 404)
	g.Expect(p.Client().Probe(t.Context(), p.Sources)).To(HaveExactElements(
		HaveField("Err", HaveOccurred()), HaveField("Err", HaveOccurred()), HaveField("Err", BeNil())),
		"a download that is not there is told when it is wanted; what has no /v2/ is no registry")
}
