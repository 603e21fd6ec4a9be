package provision

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// inOrder runs steps one after the other, up to the first that fails.
func inOrder(ctx context.Context, steps ...step) error {
	for _, do := range steps {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// parallel makes one step of independent steps. When one fails, the others are
// cancelled. It returns every failure except those of the cancelled steps.
func parallel(steps ...step) step {
	return func(ctx context.Context) error {
		group, groupCtx := errgroup.WithContext(ctx)
		failures := make([]error, len(steps))
		for i, do := range steps {
			group.Go(func() error {
				failures[i] = do(groupCtx)
				return failures[i]
			})
		}
		first := group.Wait()
		var causes []error
		for _, failure := range failures {
			if failure != nil && (ctx.Err() != nil || !errors.Is(failure, context.Canceled)) {
				causes = append(causes, failure)
			}
		}
		if len(causes) == 0 {
			return first
		}
		return errors.Join(causes...)
	}
}
