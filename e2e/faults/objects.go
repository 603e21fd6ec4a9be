package faults

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// read returns an object as it is, nil if it is not there. One without a name
// must be the only one of its kind.
func (i *Injection) read(ctx context.Context, what Object) (*unstructured.Unstructured, error) {
	version, err := schema.ParseGroupVersion(what.APIVersion)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	kind := version.WithKind(what.Kind)
	if what.Name == "" {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := i.client.List(ctx, list, client.InNamespace(what.Namespace)); err != nil {
			return nil, fmt.Errorf("listing every %s: %w", what, err)
		}
		if len(list.Items) != 1 {
			return nil, fmt.Errorf("there are %d of %s, and without a name there must be one", len(list.Items), what)
		}
		return &list.Items[0], nil
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err = i.client.Get(ctx, client.ObjectKey{Namespace: what.Namespace, Name: what.Name}, object)
	switch {
	case err == nil:
		return object, nil
	case client.IgnoreNotFound(err) == nil || meta.IsNoMatchError(err):
		return nil, nil
	}
	return nil, fmt.Errorf("reading %s: %w", what, err)
}

// remove deletes an object with all that it owns, and waits until it is gone.
func (i *Injection) remove(ctx context.Context, object *unstructured.Unstructured) error {
	if object == nil {
		return nil
	}
	what := Object{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
	return i.until(ctx, what.String()+" to be gone", func(ctx context.Context) (string, error) {
		live, err := i.read(ctx, what)
		if err != nil || live == nil || live.GetUID() != object.GetUID() {
			return "", err
		}
		if live.GetDeletionTimestamp() == nil {
			err := i.client.Delete(ctx, live, client.PropagationPolicy(metav1.DeletePropagationForeground), client.Preconditions{UID: ptr.To(live.GetUID())})
			switch {
			case transient(err):
				return err.Error(), nil
			case client.IgnoreNotFound(err) != nil:
				return "", fmt.Errorf("deleting %s: %w", what, err)
			}
		}
		return "it is still there", nil
	})
}

// until waits until look has nothing more to say; its error has what look said last.
func (i *Injection) until(ctx context.Context, what string, look func(context.Context) (string, error)) error {
	var says string
	err := wait.PollUntilContextTimeout(ctx, lookEvery, settlesWithin, true, func(ctx context.Context) (bool, error) {
		var err error
		says, err = look(ctx)
		if unreachable(err) {
			says, err = err.Error(), nil
		}
		return says == "" && err == nil, err
	})
	if err != nil && says != "" {
		return fmt.Errorf("waiting for %s: %w; at last %s", what, err, says)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
