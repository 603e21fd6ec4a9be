package cluster

import (
	"context"
	"sync"
)

// An Interruption is somebody's wish, or a reason, that the run ends early.
type Interruption struct {
	once  sync.Once
	ended chan struct{}
	cause error
}

// NewInterruption returns one that has not happened.
func NewInterruption() *Interruption { return &Interruption{ended: make(chan struct{})} }

// End interrupts the run. The first cause stays.
func (i *Interruption) End(cause error) {
	i.once.Do(func() {
		i.cause = cause
		close(i.ended)
	})
}

// Cause is why the run is to end; nil as long as nobody wants that.
func (i *Interruption) Cause() error {
	select {
	case <-i.ended:
		return i.cause
	default:
		return nil
	}
}

// Interrupted reports whether somebody wants the run to end.
func (w *Cluster) Interrupted() bool { return w.Interruption != nil && w.Interruption.Cause() != nil }

// WithInterrupt returns the context of a spec, which ends with an interrupt too.
func (w *Cluster) WithInterrupt(spec context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(spec)
	if w.Interruption != nil {
		go func() {
			select {
			case <-w.Interruption.ended:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}
