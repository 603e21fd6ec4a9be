package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Watch begins a new history and records into it all that happens in the lab's
// namespace until ctx ends or another history is begun. It returns once what is
// there now has been seen.
func (w *Cluster) Watch(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	if err := w.watch(watching); err != nil {
		stop()
		return err
	}
	if w.stopWatch != nil {
		w.stopWatch()
	}
	w.stopWatch, w.watchAgain = stop, func() error { return w.Watch(ctx) }
	return nil
}

// ResetHistory begins another history, so that an earlier JobSet of the same name
// is not confused with the next one.
func (w *Cluster) ResetHistory() error { return w.watchAgain() }

func (w *Cluster) watch(ctx context.Context) error {
	recorder := snapshot.NewRecorder(w.others...)
	recorder.Watching, recorder.GPUResource = true, w.Pins.GPUResource
	informers, err := cache.New(w.Config, cache.Options{
		Scheme:            w.API.Scheme(),
		Mapper:            w.API.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{w.Pins.Namespace: {}},
		DefaultWatchErrorHandler: func(ctx context.Context, reflector *toolscache.Reflector, err error) {
			// The reflector lists anew and what still exists is seen again; what
			// came and went in between is not, so the gap itself is kept.
			// A watch that the server closes in good order is no gap: the next one
			// begins where it ended.
			if ctx.Err() == nil && !errors.Is(err, io.EOF) {
				recorder.RecordGap(err)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("preparing to watch namespace %s: %w", w.Pins.Namespace, err)
	}
	within, cancel := Brief(ctx)
	defer cancel()
	within, done := w.WithInterrupt(within) // an interrupt ends the wait for the first list, too
	defer done()
	for _, kind := range []client.Object{
		&jobsetv1.JobSet{}, &batchv1.Job{}, &corev1.Pod{}, &kueuev1.Workload{}, &corev1.Event{},
	} {
		if err := w.discovery.ask(within, w.API, kind); err != nil {
			return fmt.Errorf("watching %T in namespace %s: %w", kind, w.Pins.Namespace, err)
		}
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watching %T in namespace %s: %w", kind, w.Pins.Namespace, err)
		}
		if _, err := informer.AddEventHandler(handler(recorder)); err != nil {
			return fmt.Errorf("watching %T in namespace %s: %w", kind, w.Pins.Namespace, err)
		}
	}
	go func() {
		if err := informers.Start(ctx); err != nil {
			recorder.RecordGap(fmt.Errorf("the watch ended: %w", err))
		}
	}()
	if !informers.WaitForCacheSync(within) {
		return fmt.Errorf("the watch on namespace %s saw nothing within %s", w.Pins.Namespace, LookWithin)
	}
	w.earlier, w.recorder = append(w.earlier, w.recorder), recorder
	return nil
}

// quietWithin is how long a lab in which the watch sees no change is not looked at again.
// Files, queues and devices are not watched.
const quietWithin = time.Second

// AwaitChange returns once the watch has seen a change since it was last awaited, after a
// second at the latest, and at once where nothing is watched.
func (w *Cluster) AwaitChange(ctx context.Context) {
	if !w.recorder.Watching {
		return
	}
	select {
	case <-w.recorder.Changed():
	case <-time.After(quietWithin):
	case <-ctx.Done():
	}
}

// Recorded is all that was ever seen on the lab: each history that was begun, in order,
// and the events.
func (w *Cluster) Recorded() (histories []snapshot.History, events [][]snapshot.Event) {
	for _, recorder := range append(slices.Clone(w.earlier), w.recorder) {
		histories, events = append(histories, recorder.History()), append(events, recorder.Events())
	}
	return histories, events
}

func handler(r *snapshot.Recorder) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { feed(object, r.Observe) },
		UpdateFunc: func(_, object any) { feed(object, r.Observe) },
		DeleteFunc: func(object any) { feed(object, r.ObserveDeletion) },
	}
}

// feed hands an object of the watch on. One whose deletion the watch itself
// missed comes wrapped, with its last known state inside.
func feed(object any, note func(client.Object)) {
	if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	if known, ok := object.(client.Object); ok {
		note(known)
	}
}
