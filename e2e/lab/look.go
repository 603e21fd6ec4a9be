package lab

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "k8s.io/api/batch/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Look takes one Snapshot: the objects of the namespace, listed live, the files
// of the work directory, and what was ever seen. What it lists it also shows to
// the recorder. The error names what could not be read.
func (w *World) Look(ctx context.Context) (*Snapshot, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	snapshot := &Snapshot{Taken: time.Now(), Namespace: w.Pins.Namespace, GPUResource: w.Pins.GPUResource, ReadOnly: w.readOnly}

	// JobSets first: what is listed after them is at least as new, so a JobSet
	// is never shown further on than the Jobs and pods it rests on.
	var jobSets jobsetv1.JobSetList
	if err := w.client.List(ctx, &jobSets); err != nil {
		return nil, fmt.Errorf("listing JobSets: %w", err)
	}
	for _, jobSet := range jobSets.Items {
		if jobSet.Namespace == w.Pins.Namespace {
			snapshot.JobSets = append(snapshot.JobSets, jobSet)
		} else {
			snapshot.Elsewhere = append(snapshot.Elsewhere, jobSet.Namespace+"/"+jobSet.Name)
		}
	}
	var (
		jobs      batchv1.JobList
		pods      corev1.PodList
		workloads kueuev1.WorkloadList
		services  corev1.ServiceList
		queues    kueuev1.LocalQueueList
		events    corev1.EventList
		queue     kueuev1.ClusterQueue
	)
	lists := []client.ObjectList{&jobs, &pods, &workloads, &services, &queues}
	if w.recorder.needsEvents() {
		lists = append(lists, &events)
	}
	for _, list := range lists {
		if err := w.client.List(ctx, list, client.InNamespace(w.Pins.Namespace)); err != nil {
			return nil, fmt.Errorf("listing %T in namespace %s: %w", list, w.Pins.Namespace, err)
		}
	}
	snapshot.Jobs, snapshot.Pods, snapshot.Workloads = jobs.Items, pods.Items, workloads.Items
	snapshot.Services, snapshot.LocalQueues = services.Items, queues.Items
	err := w.client.Get(ctx, client.ObjectKey{Name: w.Pins.ClusterQueue}, &queue)
	if err == nil {
		snapshot.ClusterQueue, snapshot.GPUResource = &queue, gpuResource(&queue, w.Pins)
	} else if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading ClusterQueue %s: %w", w.Pins.ClusterQueue, err)
	}
	snapshot.Files, snapshot.FilesUnread, err = readFiles(ctx, w.Settings.WorkDir, w.Settings.Files)
	if err != nil {
		return nil, err
	}
	snapshot.Devices, snapshot.DevicesUnseen = w.devices.look(ctx, w, snapshot.GPUResource, snapshot.Pods)
	snapshot.remember(w.recorder, events.Items)
	snapshot.trim()
	return snapshot, nil
}

// remember shows the recorder all that was listed, and takes its history.
func (s *Snapshot) remember(recorder *Recorder, events []corev1.Event) {
	recorder.SawAll(s)
	for i := range events {
		recorder.Saw(&events[i])
	}
	s.Seen, s.Events = recorder.History(), recorder.Events()
}
