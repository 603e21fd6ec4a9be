package provision

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
)

// absent is the verdict on a cluster that does not exist.
const absent = "no such cluster"

// look tells why the cluster of that name cannot be used as it stands; empty if it can.
// What has its name and is not ours is an error.
func (k *kindCluster) inspect(ctx context.Context) (verdict string, err error) {
	found, err := k.survey(ctx)
	if err != nil {
		return "", err
	}
	if err := found.refusal(); err != nil {
		return "", err
	}
	if len(found.containers) == 0 {
		return absent, nil
	}
	node := found.containers[0] // kind makes one
	if node.Config.Image != k.image {
		return "it was of another node image", nil
	}
	if !node.State.Running {
		return "its node had stopped", nil
	}
	return k.lookInside(ctx)
}

// nodeIsReady tells whether the cluster's node is Ready.
func (c *cluster) nodeIsReady(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes); err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		return pendingError("the API server knows no node")
	}
	node := nodes.Items[0] // kind makes one
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return pendingf("node %s is not Ready", node.Name)
}

// parallel makes one step of steps that need not wait for one another. When one
// fails the others are told to stop, and every failure that is a cause is returned.
func parallel(steps ...env.Func) env.Func {
	return func(ctx context.Context, config *envconf.Config) (context.Context, error) {
		group, groupCtx := errgroup.WithContext(ctx)
		failures := make([]error, len(steps))
		for i, step := range steps {
			group.Go(func() error {
				_, failures[i] = step(groupCtx, config)
				return failures[i]
			})
		}
		first := group.Wait()
		if first == nil {
			return ctx, nil
		}
		var causes []error
		for _, failure := range failures {
			if failure != nil && (ctx.Err() != nil || !errors.Is(failure, context.Canceled)) {
				causes = append(causes, failure)
			}
		}
		if len(causes) == 0 {
			return ctx, first
		}
		return ctx, fmt.Errorf("%w", errors.Join(causes...))
	}
}
