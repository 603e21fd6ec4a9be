package poll

import (
	"context"
	"fmt"
	"time"
)

// Within runs a function that takes no context, such as those of kind, until ctx ends
// and at most for a limit. An unfinished function goes on in the background, and its
// result is dropped.
func Within[T any](ctx context.Context, limit time.Duration, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case got := <-done:
		return got.value, got.err
	case <-bounded.Done():
		var none T
		return none, fmt.Errorf("it took longer than %s, or was interrupted: %w", limit, bounded.Err())
	}
}
