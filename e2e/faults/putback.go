package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restoreAll restores everything, strictly in the reverse order of breaking: what came
// later may hold on to what came before, such as a ClusterQueue that names an
// AdmissionCheck. It goes on after an error, to restore what it can.
func (i *Injection) restoreAll(ctx context.Context) error {
	var failed []error
	for at, e := range slices.Backward(i.journal.list()) {
		bounded, cancel := share(ctx, at)
		failed = append(failed, i.restore(bounded, e))
		cancel()
	}
	return errors.Join(failed...)
}

// share bounds what is restored before others by half of the time that is left,
// so that one thing that cannot be restored does not keep the others from it.
func share(ctx context.Context, others int) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if !bounded || others == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

func (i *Injection) restore(ctx context.Context, e entry) error {
	switch {
	case e.Node != nil:
		return i.undo(ctx, *e.Node)
	case !e.Known: // its action was not reached
		return nil
	case e.Before != nil:
		return i.putBack(ctx, *e.Object, e.Before)
	}
	return i.takeAway(ctx, *e.Object)
}

// takeAway removes an object that was absent. One that no fault wrote is
// somebody else's, whatever it is called.
func (i *Injection) takeAway(ctx context.Context, what Object) error {
	var live *unstructured.Unstructured
	err := i.until(ctx, "a look at "+what.String(), func(ctx context.Context) (says string, err error) {
		live, err = i.read(ctx, what)
		return "", err
	})
	if err != nil || live == nil || !byFault(live) {
		return err
	}
	return i.remove(ctx, live)
}

// byFault reports whether a fault wrote an object.
func byFault(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == fieldManager })
}

// undo takes a command on the node back, if it ever began, and proves that.
func (i *Injection) undo(ctx context.Context, n nodeChange) error {
	if err := i.undone(ctx, n); err != nil {
		return fmt.Errorf("the node is not restored: %w.\n  To restore it by hand, type as root on the node:\n%s", err, n.Undo)
	}
	return nil
}

func (i *Injection) undone(ctx context.Context, n nodeChange) error {
	if i.node == nil {
		return errors.New("there is no shell on it")
	}
	began, err := i.node.end(ctx, n.ID)
	if err != nil || !began || n.Undo == "" {
		return err
	}
	if err := i.node.run(ctx, n.ID+"-undo-"+rand.String(5), n.Undo); err != nil || n.Prove == "" {
		return err
	}
	return i.node.run(ctx, n.ID+"-proof-"+rand.String(5), n.Prove)
}

// putBack makes an object what it was. What cannot be changed is made anew, and
// what is being deleted is made anew once it is gone.
func (i *Injection) putBack(ctx context.Context, what Object, before *unstructured.Unstructured) error {
	return i.until(ctx, what.String()+" to be put back", func(ctx context.Context) (string, error) {
		live, err := i.read(ctx, what)
		if err != nil {
			return "", err
		}
		if live == nil {
			return i.create(ctx, before)
		}
		if live.GetDeletionTimestamp() != nil {
			return "it is still being deleted", nil
		}
		patch, err := difference(live, before)
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
			return i.create(ctx, before)
		case transient(err):
			return err.Error(), nil
		case err != nil:
			return "", err
		}
		return "", i.waitForRollout(ctx, live)
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
	return "", i.waitForRollout(ctx, object)
}

// transient reports an error of putting back that goes away: somebody else wrote
// at the same time, or a webhook's server is on its way up again.
func transient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsInternalError(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}

// unreachable reports an error of the way to the API server, or of its own way to
// etcd, such as while it is started again, from an answer of it.
func unreachable(err error) bool {
	return err != nil && (utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) ||
		utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsTimeout(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err))
}

// drift lists what is not as it was before the fault. Of an
// object that was changed twice, its first entry says how it was.
func (i *Injection) drift(ctx context.Context) ([]string, error) {
	var left []string
	var done []Object
	for _, e := range i.journal.list() {
		if !e.Known || slices.ContainsFunc(done, e.Object.same) {
			continue
		}
		done = append(done, *e.Object)
		live, err := i.read(ctx, *e.Object)
		if err != nil {
			return nil, err
		}
		says, err := driftOf(e, live)
		if err != nil {
			return nil, err
		}
		if says != "" {
			left = append(left, says)
		}
	}
	return left, nil
}

// driftOf says how an object differs from what it was before the fault.
func driftOf(e entry, live *unstructured.Unstructured) (string, error) {
	switch {
	case e.Before == nil && (live == nil || !byFault(live)):
		return "", nil
	case e.Before == nil:
		return e.Object.String() + " is still there", nil
	case live == nil:
		return e.Object.String() + " is not there again", nil
	case live.GetDeletionTimestamp() != nil:
		return e.Object.String() + " is being deleted", nil
	}
	patch, err := difference(live, e.Before)
	if err != nil || patch == nil {
		return "", err
	}
	return fmt.Sprintf("%s is not as it was: %s would make it so", e.Object, patch), nil
}
