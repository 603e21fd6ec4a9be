package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager marks what a fault applied, which is not the suite's own: a
// JobSet of a fault is a stranger's to the suite.
const fieldManager = "gsb-jobset-fault"

// Bounds of what a fault waits for: a rollout is the longest.
const (
	settlesWithin = 90 * time.Second
	lookEvery     = 200 * time.Millisecond
)

// An Injection is what one fault has done to the lab, and how all that it
// touched was before, so that it can be put back. Its methods may be called from
// one goroutine at a time; break and during do not overlap with healing.
type Injection struct {
	client client.Client
	node   func(ctx context.Context, command string) error

	mu      sync.Mutex
	touched []record
	undo    []string
}

// A record is an object as it was before it was first touched; nil if it was
// not there.
type record struct {
	object Object
	before *unstructured.Unstructured
}

// do does the actions in order.
func (i *Injection) do(ctx context.Context, actions []Action) error {
	for _, action := range actions {
		if err := i.act(ctx, action); err != nil {
			return err
		}
	}
	return nil
}

func (i *Injection) act(ctx context.Context, action Action) error {
	switch {
	case action.Apply != nil:
		return i.apply(ctx, action.Apply.DeepCopy())
	case action.Patch != nil:
		body, err := action.Patch.bytes()
		if err != nil {
			return fmt.Errorf("writing the patch of %s: %w", action.Patch.Object, err)
		}
		kind := types.MergePatchType
		if action.Patch.JSON != nil {
			kind = types.JSONPatchType
		}
		return i.patch(ctx, action.Patch.Object, kind, body)
	case action.Scale != nil:
		return i.patch(ctx, action.Scale.Object, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, *action.Scale.Replicas))
	case action.Delete != nil:
		object, err := i.touch(ctx, *action.Delete)
		if err != nil {
			return err
		}
		return i.remove(ctx, object)
	case action.Node != nil:
		i.mu.Lock()
		if action.Node.Undo != "" {
			i.undo = append(i.undo, action.Node.Undo)
		}
		i.mu.Unlock()
		return i.node(ctx, action.Node.Do)
	case action.Await != nil:
		return i.await(ctx, *action.Await)
	}
	return errors.New("an action does nothing") // check has refused it
}

func (i *Injection) apply(ctx context.Context, object *unstructured.Unstructured) error {
	what := Object{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
	if _, err := i.touch(ctx, what); err != nil {
		return err
	}
	err := i.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying %s: %w", what, err)
	}
	return nil
}

func (i *Injection) patch(ctx context.Context, what Object, kind types.PatchType, body []byte) error {
	object, err := i.touch(ctx, what)
	if err != nil {
		return err
	}
	if object == nil {
		return fmt.Errorf("patching %s: it is not there", what)
	}
	if err := i.client.Patch(ctx, object, client.RawPatch(kind, body), client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("patching %s: %w", what, err)
	}
	return i.settle(ctx, object)
}

// touch keeps how an object is before it is changed, once.
func (i *Injection) touch(ctx context.Context, what Object) (*unstructured.Unstructured, error) {
	object, err := i.read(ctx, what)
	if err != nil {
		return nil, err
	}
	if object != nil {
		what.Name = object.GetName()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.ContainsFunc(i.touched, func(r record) bool { return r.object == what }) {
		i.touched = append(i.touched, record{object: what, before: object.DeepCopy()})
	}
	return object, nil
}

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
	err := i.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s: %w", what, err)
	}
	return i.until(ctx, what.String()+" to be gone", func(ctx context.Context) (string, error) {
		live, err := i.read(ctx, what)
		if err != nil || live == nil || live.GetUID() != object.GetUID() {
			return "", err
		}
		return "it is still there", nil
	})
}

// until waits until look has nothing more to say, and tells what it said last.
func (i *Injection) until(ctx context.Context, what string, look func(context.Context) (string, error)) error {
	var says string
	err := wait.PollUntilContextTimeout(ctx, lookEvery, settlesWithin, true, func(ctx context.Context) (bool, error) {
		var err error
		says, err = look(ctx)
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
