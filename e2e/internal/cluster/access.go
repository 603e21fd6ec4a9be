package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Found reads one object; one that is not there is nil and no error.
func Found[T client.Object](ctx context.Context, reader client.Client, namespace, name string, object T) (T, error) {
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	if err == nil {
		return object, nil
	}
	var none T
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	return none, err
}

// Client reads and writes the lab's cluster, objects of any kind.
func (w *Cluster) Client() client.Client { return w.API }

// Run runs a command in a pod's first container and returns what it printed, as
// kubectl exec does. A command that exits with another status than 0 is an
// error that carries what it complained of.
func (w *Cluster) Run(ctx context.Context, pod *corev1.Pod, command ...string) (string, error) {
	return w.Exec(ctx, pod, command...)
}

// Inventory lists all that there is in the lab's namespace, of every kind that
// the cluster knows, as Kind/name; but no events, which tell of what is past.
func (w *Cluster) Inventory(ctx context.Context) ([]string, error) {
	ctx, cancel := Brief(ctx)
	defer cancel()
	kinds, err := w.Clientset.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("asking which kinds of object there are: %w", err)
	}
	var there []string
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("the cluster lists the API %q: %w", group.GroupVersion, err)
		}
		for _, kind := range group.APIResources {
			if kind.Kind == "Event" || !slices.Contains(kind.Verbs, "list") || !slices.Contains(kind.Verbs, "delete") {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(kind.Kind + "List"))
			if err := w.API.List(ctx, list, client.InNamespace(w.Pins.Namespace)); err != nil {
				return nil, fmt.Errorf("listing every %s in namespace %s: %w", kind.Kind, w.Pins.Namespace, err)
			}
			for _, object := range list.Items {
				there = append(there, kind.Kind+"/"+object.Name)
			}
		}
	}
	slices.Sort(there)
	return there, nil
}
