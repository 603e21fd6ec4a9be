package answers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
)

// An inventory is what there was before the first answer. What kubectl makes carries no
// mark, so whatever is there now, was not then, and is called like an answer's JobSet (or
// like it with more behind a hyphen) is the answer's: nobody else has the lab meanwhile.
type inventory struct{ there map[types.UID]bool }

// kinds are what answers make.
func kinds() []client.ObjectList {
	return []client.ObjectList{&jobsetv1.JobSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{}}
}

func takeInventory(ctx context.Context, lab *cluster.Cluster) (*inventory, error) {
	before := &inventory{there: map[types.UID]bool{}}
	err := each(ctx, lab, func(object client.Object) { before.there[object.GetUID()] = true })
	return before, err
}

// each calls f for each object that an answer might have made, in the namespaces in which
// a learner's mistake puts it.
func each(ctx context.Context, lab *cluster.Cluster, f func(client.Object)) error {
	for _, namespace := range []string{lab.Pins.Namespace, metav1.NamespaceDefault} {
		for _, list := range kinds() {
			if err := lab.API.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return fmt.Errorf("listing %T in namespace %s: %w", list, namespace, err)
			}
			_ = meta.EachListItem(list, func(item runtime.Object) error {
				f(item.(client.Object))
				return nil
			})
		}
	}
	return nil
}

// remove deletes what answers about these JobSets made, and waits until it is gone.
func (i *inventory) remove(ctx context.Context, lab *cluster.Cluster, jobSets []string) error {
	var made []jobsetv1.JobSet
	var others []client.Object
	err := each(ctx, lab, func(object client.Object) {
		name := object.GetName()
		ours := slices.ContainsFunc(jobSets, func(jobSet string) bool { return name == jobSet || strings.HasPrefix(name, jobSet+"-") })
		switch jobSet, is := object.(*jobsetv1.JobSet); {
		case !ours || i.there[object.GetUID()]:
		case is && jobSet.Namespace == lab.Pins.Namespace:
			made = append(made, *jobSet)
		case metav1.GetControllerOf(object) == nil:
			others = append(others, object)
		}
	})
	if err != nil {
		return err
	}
	for _, object := range others {
		err := lab.API.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s, which an answer made: %w", object.GetName(), err)
		}
	}
	if err := ownership.Remove(ctx, lab, made); err != nil {
		return err
	}
	return forget(ctx, lab, made)
}

// forget deletes the events on JobSets that are gone: they outlive them by an hour, and a
// check of the next answer would read in them what became of a JobSet of the same name.
func forget(ctx context.Context, lab *cluster.Cluster, gone []jobsetv1.JobSet) error {
	var events corev1.EventList
	if err := lab.API.List(ctx, &events, client.InNamespace(lab.Pins.Namespace)); err != nil {
		return fmt.Errorf("listing the events of answers: %w", err)
	}
	for i := range events.Items {
		about := events.Items[i].InvolvedObject.UID
		if slices.ContainsFunc(gone, func(jobSet jobsetv1.JobSet) bool { return jobSet.UID == about }) {
			if err := lab.API.Delete(ctx, &events.Items[i]); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("deleting the events of answers: %w", err)
			}
		}
	}
	return nil
}
