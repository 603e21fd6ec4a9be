package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager marks what a fault applied, which is not the suite's own: a
// JobSet of a fault is unmanaged to the suite.
const fieldManager = "gsb-jobset-fault"

// Bounds of what a fault waits for: a rollout is the longest.
const (
	settlesWithin = 90 * time.Second
	lookEvery     = 200 * time.Millisecond
)

// An Injection is what one fault does to the lab. Its journal lists how all that it
// changes was before, so that it can be restored. Its methods may be called from
// one goroutine at a time; break and during do not overlap with restoring.
type Injection struct {
	client  client.Client
	node    node
	journal *journal

	// taken is how many of the journal's entries have been reached.
	taken int
}

// A node runs shell commands on the lab's node.
type node interface {
	// run runs a command once, under a name of its own, and returns when it has ended.
	run(ctx context.Context, id, command string) error
	// end sees to it that a command of this name neither runs nor will run, and
	// reports whether it ever began.
	end(ctx context.Context, id string) (began bool, err error)
	// forget removes what is kept on the node about commands.
	forget(ctx context.Context) error
}

// plan writes into the journal what the actions will change and how it is now,
// before the first of them: a later one may make writing impossible.
func (i *Injection) plan(ctx context.Context, actions []Action) error {
	for _, action := range actions {
		if action.Await != nil {
			continue
		}
		if action.Node != nil {
			id := fmt.Sprintf("%s-%s-%d", i.journal.run, i.journal.fault, len(i.journal.entries)+1)
			i.journal.entries = append(i.journal.entries, entry{Node: &nodeChange{ID: id, Undo: action.Node.Undo, Prove: action.Node.Prove}})
			continue
		}
		what := action.object()
		e := entry{Object: &what}
		if live, err := i.read(ctx, what); err == nil {
			e = seen(what, live)
		} else if what.Name != "" {
			return err
		} // without a name it may be the only one by the time of its action
		if slices.ContainsFunc(i.journal.entries, func(earlier entry) bool { return earlier.Object != nil && earlier.Object.same(*e.Object) }) {
			e.Before, e.Known = nil, false
		}
		i.journal.entries = append(i.journal.entries, e)
	}
	if len(i.journal.entries) == 0 {
		return nil
	}
	return i.journal.write(ctx)
}

// seen is the entry of an object as it is now.
func seen(what Object, live *unstructured.Unstructured) entry {
	e := entry{Object: &what, Known: true}
	if live != nil {
		what.Name = live.GetName()
		e.Before = plain(live)
	}
	return e
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
	case action.Await != nil:
		return i.await(ctx, *action.Await)
	case action.Node != nil:
		return i.command(ctx, *action.Node)
	}
	what := action.object()
	object, err := i.capture(ctx, what)
	if err != nil {
		return err
	}
	switch {
	case action.Apply != nil:
		err := i.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(action.Apply.DeepCopy()), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("applying %s: %w", what, err)
		}
		return nil
	case action.Patch != nil:
		body, err := action.Patch.bytes()
		if err != nil {
			return fmt.Errorf("writing the patch of %s: %w", what, err)
		}
		kind := types.MergePatchType
		if action.Patch.JSON != nil {
			kind = types.JSONPatchType
		}
		return i.patch(ctx, what, object, kind, body)
	case action.Scale != nil:
		return i.patch(ctx, what, object, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, *action.Scale.Replicas))
	case action.Delete != nil:
		return i.remove(ctx, object)
	}
	return errors.New("an action does nothing") // check has refused it
}

func (i *Injection) patch(ctx context.Context, what Object, object *unstructured.Unstructured, kind types.PatchType, body []byte) error {
	if object == nil {
		return fmt.Errorf("patching %s: it is not there", what)
	}
	if err := i.client.Patch(ctx, object, client.RawPatch(kind, body), client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("patching %s: %w", what, err)
	}
	return i.waitForRollout(ctx, object)
}

// capture returns an object as it is right before its action, and completes its
// entry in the journal if plan could not.
func (i *Injection) capture(ctx context.Context, what Object) (*unstructured.Unstructured, error) {
	live, err := i.read(ctx, what)
	if err != nil {
		return nil, err
	}
	at := i.taken
	i.taken++
	if !i.journal.list()[at].Known {
		if err := i.journal.set(ctx, at, seen(what, live)); err != nil {
			return nil, err
		}
	}
	return live, nil
}

// command runs a command on the node, and requires of the proof that it sees the
// difference: one that passes on a broken node proves nothing once it is restored.
func (i *Injection) command(ctx context.Context, n Node) error {
	id := i.journal.list()[i.taken].Node.ID
	i.taken++
	if n.Prove != "" {
		if err := i.node.run(ctx, id+"-before", n.Prove); err != nil {
			return fmt.Errorf("the node is not as it must be before the fault is made: %w", err)
		}
	}
	if err := i.node.run(ctx, id, n.Do); err != nil || n.Prove == "" {
		return err
	}
	err := i.node.run(ctx, id+"-broken", n.Prove)
	var failed *commandError
	if err == nil {
		return fmt.Errorf("prove ends well on the broken node, so it proves nothing: %s", n.Prove)
	}
	if !errors.As(err, &failed) {
		return err
	}
	return nil
}
