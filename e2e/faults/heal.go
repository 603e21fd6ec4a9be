package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// heal puts everything back. First goes what was not there before, the last
// first; then what was changed or deleted comes back, in the order in which it
// was touched; then the node. It goes on after an error, to mend what it can.
func (i *Injection) heal(ctx context.Context) error {
	i.mu.Lock()
	touched, undo := slices.Clone(i.touched), slices.Clone(i.undo)
	i.mu.Unlock()
	var failed []error
	for _, r := range slices.Backward(touched) {
		if r.before == nil {
			object, err := i.read(ctx, r.object)
			if err == nil {
				err = i.remove(ctx, object)
			}
			failed = append(failed, err)
		}
	}
	for _, r := range touched {
		if r.before != nil {
			failed = append(failed, i.putBack(ctx, r))
		}
	}
	for _, command := range slices.Backward(undo) {
		failed = append(failed, i.node(ctx, command))
	}
	return errors.Join(failed...)
}

// putBack makes an object what it was. What cannot be changed is made anew.
func (i *Injection) putBack(ctx context.Context, r record) error {
	return i.until(ctx, r.object.String()+" to be put back", func(ctx context.Context) (string, error) {
		live, err := i.read(ctx, r.object)
		if err != nil {
			return "", err
		}
		if live == nil {
			return i.create(ctx, r.before)
		}
		patch, err := difference(live, r.before)
		if err != nil {
			return "", err
		}
		if patch != nil {
			err = i.client.Patch(ctx, live, client.RawPatch(mergePatch, patch), client.FieldOwner(fieldManager))
		}
		switch {
		case apierrors.IsInvalid(err):
			if err := i.remove(ctx, live); err != nil {
				return "", err
			}
			return i.create(ctx, r.before)
		case transient(err):
			return err.Error(), nil
		case err != nil:
			return "", err
		}
		return "", i.settle(ctx, live)
	})
}

func (i *Injection) create(ctx context.Context, before *unstructured.Unstructured) (string, error) {
	object := plain(before)
	err := i.client.Create(ctx, object, client.FieldOwner(fieldManager))
	if transient(err) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	return "", i.settle(ctx, object)
}

// transient tells an error of putting back that goes away: somebody else wrote
// at the same time, or a webhook's server is on its way up again.
func transient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInternalError(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}

// left tells what is not as it was before the fault; nothing if all is.
func (i *Injection) left(ctx context.Context) ([]string, error) {
	i.mu.Lock()
	touched := slices.Clone(i.touched)
	i.mu.Unlock()
	var left []string
	for _, r := range touched {
		live, err := i.read(ctx, r.object)
		if err != nil {
			return nil, err
		}
		switch {
		case r.before == nil && live == nil:
		case r.before == nil:
			left = append(left, r.object.String()+" is still there")
		case live == nil:
			left = append(left, r.object.String()+" is not there again")
		default:
			patch, err := difference(live, r.before)
			if err != nil {
				return nil, err
			}
			if patch != nil {
				left = append(left, fmt.Sprintf("%s is not as it was: %s would make it so", r.object, patch))
			}
		}
	}
	return left, nil
}
