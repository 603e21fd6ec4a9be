// Package ownership knows what in a lab is this suite's: JobSets by a mark, files by a
// record, the lab itself by a Lease. Whatever carries no mark is left alone.
package ownership

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// ApplyMarked applies an object of the learner's with this run's marks on it, so
// that a later run knows it from a learner's. The marks are only in the cluster:
// the learner's file stays as it is. An object of the same name that this run did
// not apply is left alone.
func ApplyMarked(ctx context.Context, w *cluster.Cluster, object *unstructured.Unstructured) error {
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(object.GroupVersionKind())
	there, err := cluster.Found(ctx, w.API, object.GetNamespace(), object.GetName(), there)
	if err != nil {
		return err
	}
	if there != nil && there.GetAnnotations()[fixtures.RunAnnotation] != w.Settings.Run {
		return fmt.Errorf("%s %s is there already, and this run did not apply it, so it is left as it is; "+
			"if nobody needs it: kubectl -n %s delete %s %s", there.GetKind(), there.GetName(), there.GetNamespace(),
			strings.ToLower(there.GetKind()), there.GetName())
	}
	annotate(object, fixtures.RunAnnotation, w.Settings.Run)
	// What the webhooks make of it is only known from an answer, and the digest must
	// be on the object from its first moment on: so a dry run goes first.
	answer := object.DeepCopy()
	options := []client.ApplyOption{client.FieldOwner(cluster.FieldManager), client.ForceOwnership}
	if err := w.API.Apply(ctx, client.ApplyConfigurationFromUnstructured(answer), append(options, client.DryRunAll)...); err != nil {
		return err
	}
	var jobSet jobsetv1.JobSet
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, &jobSet); err != nil {
		return fmt.Errorf("reading what the API server makes of %s: %w", object.GetName(), err)
	}
	applied, err := appliedDigest(&jobSet)
	if err != nil {
		return err
	}
	annotate(object, fixtures.AppliedAnnotation, applied)
	return w.API.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...)
}

func annotate(object *unstructured.Unstructured, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

// appliedByUs tells a JobSet that this suite applied, in whatever run, and that
// nobody but the controllers has changed since. A name is no mark; nor is a field
// manager alone, which outlives what a learner does to the object.
func appliedByUs(jobSet *jobsetv1.JobSet) bool {
	if jobSet.Annotations[fixtures.RunAnnotation] == "" {
		return false
	}
	applied, err := appliedDigest(jobSet)
	if err != nil || applied != jobSet.Annotations[fixtures.AppliedAnnotation] {
		return false
	}
	ours := slices.ContainsFunc(jobSet.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == cluster.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
	})
	return ours && !slices.ContainsFunc(jobSet.ManagedFields, byHand)
}

// byHand tells of an entry of managedFields that a person made: by kubectl in one
// of its ways, or by a server-side apply, which no controller does to a JobSet. It
// catches what changes no value, such as the same file applied by a learner.
func byHand(entry metav1.ManagedFieldsEntry) bool {
	if entry.Subresource == "status" || entry.Manager == cluster.FieldManager {
		return false
	}
	return strings.HasPrefix(entry.Manager, "kubectl") || entry.Operation == metav1.ManagedFieldsOperationApply
}

// appliedDigest is a digest of a JobSet's labels, annotations and spec, without the
// marks and without what Kueue changes to let a JobSet in and to take it out.
func appliedDigest(jobSet *jobsetv1.JobSet) (string, error) {
	jobSet = jobSet.DeepCopy()
	delete(jobSet.Annotations, fixtures.RunAnnotation)
	delete(jobSet.Annotations, fixtures.AppliedAnnotation)
	jobSet.Spec.Suspend = nil
	for i := range jobSet.Spec.ReplicatedJobs {
		template := &jobSet.Spec.ReplicatedJobs[i].Template.Spec.Template
		for _, kept := range []map[string]string{template.Labels, template.Annotations} {
			maps.DeleteFunc(kept, func(key, _ string) bool { return strings.HasPrefix(key, "kueue.x-k8s.io/") })
		}
		template.Spec.NodeSelector, template.Spec.Tolerations, template.Spec.SchedulingGates = nil, nil, nil
	}
	content, err := json.Marshal(struct {
		Labels, Annotations map[string]string `json:",omitempty"`
		Spec                jobsetv1.JobSetSpec
	}{jobSet.Labels, jobSet.Annotations, jobSet.Spec})
	if err != nil {
		return "", fmt.Errorf("summing up JobSet %s: %w", jobSet.Name, err)
	}
	return text.Digest(content), nil
}
