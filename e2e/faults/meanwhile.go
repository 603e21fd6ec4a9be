package faults

import (
	"context"
	"strings"
	"time"
)

// A meanwhile is what is done to the lab while the suite runs.
type background struct {
	cancel context.CancelFunc
	ended  chan struct{}
	began  time.Time
	err    error
}

// begin starts the actions; end gives up on what is not done by then.
func begin(ctx context.Context, injection *Injection, actions []Action) *background {
	ctx, cancel := context.WithCancel(ctx)
	m := &background{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		for _, action := range actions {
			if m.began.IsZero() && action.Await == nil {
				m.began = time.Now()
			}
			if m.err = injection.act(ctx, action); m.err != nil {
				return
			}
		}
	}()
	return m
}

// end returns when something was first done to the lab, or why not all was.
func (m *background) end() (time.Time, error) {
	m.cancel()
	<-m.ended
	return m.began, m.err
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
