package registry

import (
	"fmt"
	"io"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// progress reports how much was pulled, and transient errors.
type progress struct {
	say      func(string)
	lock     sync.Mutex
	total    int64
	have     map[v1.Hash]int64
	last     string
	reported int64
}

func (p *progress) expect(size int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.total += size
}

// got sets how much of a layer is there.
func (p *progress) got(layer v1.Hash, size int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.have == nil {
		p.have = map[v1.Hash]int64{}
	}
	p.have[layer] = size
	var sum int64
	for _, have := range p.have {
		sum += have
	}
	if sum-p.reported < 1<<20 && sum > p.reported {
		return
	}
	p.reported = sum
	p.report(sum)
}

// note reports an error, which is shown until the next one.
func (p *progress) note(text string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.last = text
	p.report(p.reported)
}

func (p *progress) report(sum int64) {
	summary := fmt.Sprintf("pulling: %d of %d MB", sum/1e6, p.total/1e6)
	if p.last != "" {
		summary += "; " + p.last
	}
	p.say(strings.ReplaceAll(summary, "\n", " "))
}

// counting counts the bytes read of a partial layer.
func (p *progress) counting(layer v1.Hash, have int64, in io.Reader) io.Reader {
	return counter(func(buffer []byte) (int, error) {
		n, err := in.Read(buffer)
		have += int64(n)
		p.got(layer, have)
		return n, err
	})
}

type counter func([]byte) (int, error)

func (c counter) Read(buffer []byte) (int, error) { return c(buffer) }
