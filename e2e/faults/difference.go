package faults

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const mergePatch = types.MergePatchType

// Annotations in which a controller of Kubernetes itself counts the changes of
// an object: putting the object back is one more.
var counters = []string{"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"}

// plain is an object without what the API server and Kubernetes' own
// controllers write into it, as somebody would write it to make it.
func plain(object *unstructured.Unstructured) *unstructured.Unstructured {
	written := object.DeepCopy()
	delete(written.Object, "status")
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(written.Object, "metadata", field)
	}
	for _, counter := range counters {
		unstructured.RemoveNestedField(written.Object, "metadata", "annotations", counter)
	}
	if len(written.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(written.Object, "metadata", "annotations")
	}
	return written
}

// difference is the JSON merge patch that makes a live object what it was
// before; nil if it is that already.
func difference(live, before *unstructured.Unstructured) ([]byte, error) {
	patch, err := client.MergeFrom(plain(live)).Data(plain(before))
	if err != nil {
		return nil, fmt.Errorf("comparing %s %s with what it was: %w", before.GetKind(), before.GetName(), err)
	}
	if string(patch) == "{}" {
		return nil, nil
	}
	return patch, nil
}
