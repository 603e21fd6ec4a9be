package faults

import (
	"context"
	"strings"
	"time"
)

// A background is what is done to the lab while the suite runs.
type background struct {
	cancel context.CancelFunc
	ended  chan struct{}
	began  time.Time
	err    error
}

// begin starts the actions; end gives up on what is not done by then.
func begin(ctx context.Context, injection *Injection, actions []Action) *background {
	ctx, cancel := context.WithCancel(ctx)
	b := &background{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		for _, action := range actions {
			if b.began.IsZero() && action.Await == nil {
				b.began = time.Now()
			}
			if b.err = injection.act(ctx, action); b.err != nil {
				return
			}
		}
	}()
	return b
}

// end returns when something was first done to the lab, or why not all was.
func (b *background) end() (time.Time, error) {
	b.cancel()
	<-b.ended
	return b.began, b.err
}

func joined(one, other string) string {
	return strings.TrimPrefix(one+"; "+other, "; ")
}

func firstOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}
