package cluster

import (
	"context"
)

// Interrupted tells whether somebody wants the run to end.
func (w *Cluster) Interrupted() bool { return w.Running != nil && w.Running.Err() != nil }

// Heeding returns the context of a spec, which ends with an interrupt too.
func (w *Cluster) WithInterrupt(spec context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(spec)
	stop := context.AfterFunc(w.Running, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
