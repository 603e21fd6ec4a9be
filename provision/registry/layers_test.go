package registry

import (
	"crypto/sha256"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"
)

// whole tells whether a pulled image's one layer is as it was pushed.
func whole(g *WithT, image v1.Image) {
	layers, err := image.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(layers).To(HaveLen(1))
	content, err := layers[0].Compressed()
	g.Expect(err).NotTo(HaveOccurred())
	defer content.Close()
	text, err := io.ReadAll(content)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(HaveLen(len(large)))
	g.Expect(sha256.Sum256(text)).To(Equal(sha256.Sum256([]byte(large))))
}

// cutting ends the connection in the middle of a layer, so many times.
func cutting(times int32) (func(http.ResponseWriter, *http.Request) bool, *[]string) {
	var cut atomic.Int32
	var ranges []string
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, layerHex) {
			return false
		}
		ranges = append(ranges, r.Header.Get("Range"))
		if cut.Add(1) > times || r.Header.Get("Range") != "" {
			return false
		}
		w.Header().Set("Content-Length", "1048576")
		_, _ = io.WriteString(w, large[:1<<19])
		panic(http.ErrAbortHandler)
	}, &ranges
}

func TestAPullGoesOnWhereTheConnectionBroke(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	s.has(t, busybox, large, here)
	c := s.client(t)
	var ranges *[]string
	s.spoil, ranges = cutting(1)
	image, err := c.Pull(t.Context(), busybox, "")
	g.Expect(err).NotTo(HaveOccurred())
	whole(g, image)
	g.Expect(*ranges).To(HaveLen(2))
	g.Expect((*ranges)[0]).To(BeEmpty())
	g.Expect((*ranges)[1]).To(MatchRegexp(`^bytes=[1-9]\d*-1048575$`), "only the rest is asked for")
}

func TestALaterRunGoesOnWhereAnEarlierOneWasKilled(t *testing.T) {
	for name, left := range map[string]struct {
		content string
		ranges  []string
	}{
		"half a layer":             {large[:1<<19], []string{"bytes=524288-1048575"}},
		"a whole layer":            {large, nil},
		"nothing":                  {"", []string{""}},
		"something damaged":        {strings.ToUpper(large[:1<<19]), []string{"bytes=524288-1048575", ""}},
		"a damaged layer, whole":   {strings.ToUpper(large), []string{""}},
		"more than there is of it": {large + "more", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newFakeRegistry(t)
			s.has(t, busybox, large, here)
			c := s.client(t)
			g.Expect(os.WriteFile(c.folder+"/sha256-"+layerHex+".half", []byte(left.content), 0o644)).To(Succeed())
			ranges := []string{}
			s.spoil = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet && strings.Contains(r.URL.Path, layerHex) {
					ranges = append(ranges, r.Header.Get("Range"))
				}
				return false
			}
			image, err := c.Pull(t.Context(), busybox, "")
			g.Expect(err).NotTo(HaveOccurred())
			whole(g, image)
			g.Expect(ranges).To(HaveExactElements(left.ranges))

			s.requests = nil
			image, err = c.Pull(t.Context(), busybox, "")
			g.Expect(err).NotTo(HaveOccurred())
			whole(g, image)
			g.Expect(s.count(layerHex)).To(BeZero(), "a layer that is there is not asked for again")
		})
	}
}

func TestADamagedLayerOfAnEarlierRunIsPulledAgain(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	s.has(t, busybox, large, here)
	c := s.client(t)
	g.Expect(os.WriteFile(c.folder+"/sha256-"+layerHex, []byte(strings.ToUpper(large)), 0o644)).To(Succeed())
	image, err := c.Pull(t.Context(), busybox, "")
	g.Expect(err).NotTo(HaveOccurred())
	whole(g, image)
}

func TestARegistryThatKnowsNoRanges(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	s.has(t, busybox, large, here)
	c := s.client(t)
	g.Expect(os.WriteFile(c.folder+"/sha256-"+layerHex+".half", []byte(large[:100]), 0o644)).To(Succeed())
	s.spoil = func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range")
		return false
	}
	image, err := c.Pull(t.Context(), busybox, "")
	g.Expect(err).NotTo(HaveOccurred())
	whole(g, image)
}

func TestARegistryThatIsIllForAMoment(t *testing.T) {
	g := NewWithT(t)
	s := newFakeRegistry(t)
	s.has(t, busybox, large, here)
	var said strings.Builder
	c := s.client(t)
	c.progress.say = func(text string) { said.WriteString(text + "\n") }
	var ill atomic.Int32
	s.spoil = func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.URL.Path, "/manifests/") && ill.Add(1) < 3 && answering("/", 500)(w, r)
	}
	image, err := c.Pull(t.Context(), busybox, "")
	g.Expect(err).NotTo(HaveOccurred())
	whole(g, image)
	g.Expect(said.String()).To(ContainSubstring(busybox + ": 500 Internal Server Error; trying again"))
	g.Expect(said.String()).To(ContainSubstring("pulling: 1 of 1 MB"))
}
