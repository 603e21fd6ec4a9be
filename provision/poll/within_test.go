package poll

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestWhatKnowsNoContextIsBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	_, err := Within(t.Context(), 50*time.Millisecond, func() (string, error) { select {} })
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Within(ended, time.Minute, func() (string, error) { select {} })
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(Within(t.Context(), time.Minute, func() (string, error) { return "done", nil })).To(Equal("done"))
}
