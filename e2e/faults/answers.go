package faults

import (
	"context"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
)

// answersWithin is how long the webhooks may take to answer in a broken lab; in
// one whose fault is that they don't, this is waited for nothing.
const answersWithin = 8 * time.Second

// letWebhooksAnswer waits, though not for long, until the controllers that are
// there are also reached: after a rollout the node's proxy follows a moment
// later, and a fault is not to be reported by that.
func (r *Run) letWebhooksAnswer(ctx context.Context, injection *Injection) {
	within, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	_ = injection.until(within, "the webhooks to answer", func(ctx context.Context) (string, error) {
		facts := preflight.Collect(ctx, r.lab)
		if facts.Kueue.Available && (facts.KueueWebhook != nil || facts.JobSet.Available && facts.JobSetWebhook != nil) {
			return "one does not", nil //nolint:nilerr // that is what is waited for
		}
		return "", nil
	})
}
