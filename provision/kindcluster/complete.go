package kindcluster

import (
	"context"
	"fmt"

	"gsb.test/jobset-e2e/provision/poll"
)

// CompleteMark is a file in the node, written when every step of the lab has succeeded
// once. It lives as long as the node and can be read when the API server is down. A
// node without it belongs to an unfinished lab, on which nobody has worked.
const CompleteMark = "/kind/gsb-jobset-complete"

// MarkComplete notes in the node that the lab is complete.
func (k *Cluster) MarkComplete(ctx context.Context) error {
	if _, err := k.Exec(ctx, "sh", "-c", "date -u +%FT%TZ >"+CompleteMark); err != nil {
		return fmt.Errorf("noting in the node that the lab is complete: %w", err)
	}
	return nil
}

// WasComplete reports whether the lab of a running node was complete once.
func (k *Cluster) WasComplete(ctx context.Context) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, poll.LookTimeout)
	defer cancel()
	output, err := k.Exec(bounded, "sh", "-c", "cat "+CompleteMark+" 2>/dev/null || true")
	if err != nil {
		return false, fmt.Errorf("asking the node whether the lab %s was complete: %w\n   to make it again: make down up", k.Name, err)
	}
	return output != "", nil
}
