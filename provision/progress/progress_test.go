package progress

import (
	"bytes"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestTheList(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var out bytes.Buffer
	l := &List{out: &out}
	good, bad := l.Start("GPUs"), l.Start("Kueue")
	good.End("4 × nvidia.com/gpu allocatable", nil)
	bad.Say("waiting for something")
	l.tick()
	g.Expect(out.String()).NotTo(ContainSubstring("waiting"), "a step is not talked of before it is slow")
	bad.reported = time.Now().Add(-2 * quiet)
	l.tick()
	bad.End("", errors.New("gave up"))
	g.Expect(out.String()).To(MatchRegexp(` ✓ GPUs +4 × nvidia.com/gpu allocatable +0\.0s\n … Kueue 0s: waiting for something\n ✗ Kueue +see below +0\.0s\n`))
}
