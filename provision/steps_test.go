package provision

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
)

func TestSideBySide(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cause := errors.New("no image")
	fails := func(context.Context) error { return cause }
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	err := parallel(waits, fails, waits)(t.Context())
	g.Expect(err).To(MatchError(cause))
	g.Expect(err).NotTo(MatchError(context.Canceled), "what was stopped because of the cause is no cause")

	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	err = parallel(waits, waits)(interrupted)
	g.Expect(err).To(MatchError(context.Canceled))
}
