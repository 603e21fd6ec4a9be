package cluster

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Look takes one Snapshot: the objects of the namespace, listed live, the files
// of the work directory, and what was ever seen. What it lists it also shows to
// the recorder. The error names what could not be read; what a user who only reads
// has no right to is no error, and is in Forbidden.
func (w *Cluster) Look(ctx context.Context) (*snapshot.Snapshot, error) {
	ctx, cancel := Brief(ctx)
	defer cancel()
	seen := &snapshot.Snapshot{Taken: time.Now(), Namespace: w.Pins.Namespace, GPUResource: w.Pins.GPUResource, ReadOnly: w.readOnly}

	// JobSets first: what is listed after them is at least as new, so a JobSet
	// is never shown further on than the Jobs and pods it rests on.
	var jobSets jobsetv1.JobSetList
	err := w.API.List(ctx, &jobSets)
	if err = w.unlessForbidden(seen, "jobsets.jobset.x-k8s.io of all namespaces", err); err == nil && len(seen.Forbidden) > 0 {
		err = w.unlessForbidden(seen, "jobsets.jobset.x-k8s.io", w.API.List(ctx, &jobSets, client.InNamespace(w.Pins.Namespace)))
	}
	if err != nil {
		return nil, fmt.Errorf("listing JobSets: %w", err)
	}
	for _, jobSet := range jobSets.Items {
		if jobSet.Namespace == w.Pins.Namespace {
			seen.JobSets = append(seen.JobSets, jobSet)
		} else {
			seen.Elsewhere = append(seen.Elsewhere, jobSet.Namespace+"/"+jobSet.Name)
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
	lists := []struct {
		resource string
		list     client.ObjectList
	}{{"jobs.batch", &jobs}, {"pods", &pods}, {"workloads.kueue.x-k8s.io", &workloads}, {"services", &services}, {"localqueues.kueue.x-k8s.io", &queues}, {"events", &events}}
	for _, of := range lists {
		if of.list == &events && !w.recorder.NeedsEvents() {
			continue
		}
		if err := w.unlessForbidden(seen, of.resource, w.API.List(ctx, of.list, client.InNamespace(w.Pins.Namespace))); err != nil {
			return nil, fmt.Errorf("listing %s in namespace %s: %w", of.resource, w.Pins.Namespace, err)
		}
	}
	seen.Jobs, seen.Pods, seen.Workloads = jobs.Items, pods.Items, workloads.Items
	seen.Services, seen.LocalQueues = services.Items, queues.Items
	seen.LeaveOut(w.others)
	err = w.API.Get(ctx, client.ObjectKey{Name: w.Pins.ClusterQueue}, &queue)
	if err == nil {
		seen.ClusterQueue, seen.GPUResource = &queue, snapshot.GpuResource(&queue, w.Pins)
	} else if err = w.unlessForbidden(seen, "clusterqueues.kueue.x-k8s.io", err); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading ClusterQueue %s: %w", w.Pins.ClusterQueue, err)
	}
	seen.Files, seen.FilesUnread, err = files.ReadFiles(ctx, w.Settings.WorkDir, w.Settings.Files)
	if err != nil {
		return nil, err
	}
	seen.Devices, seen.DevicesUnseen = w.devices.look(ctx, w, seen.GPUResource, seen.Pods)
	remember(seen, w.recorder, events.Items)
	seen.Trim()
	return seen, nil
}

// unlessForbidden notes what a user who only reads may not read, and returns any other error.
func (w *Cluster) unlessForbidden(s *snapshot.Snapshot, resource string, err error) error {
	if !w.readOnly || !apierrors.IsForbidden(err) {
		return err
	}
	s.Forbidden = append(s.Forbidden, resource)
	return nil
}

// remember shows the recorder all that was listed, and takes its history.
func remember(s *snapshot.Snapshot, recorder *snapshot.Recorder, events []corev1.Event) {
	recorder.ObserveAll(s)
	for i := range events {
		recorder.Observe(&events[i])
	}
	s.Seen, s.Events = recorder.History(), recorder.Events()
}
