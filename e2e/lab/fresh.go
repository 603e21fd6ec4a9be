package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// ClearWay does what --fresh allows: the learner's JobSets in the lab's namespace
// are deleted, and the learner's files moved aside. It returns what it did. Without
// --fresh there is nothing for it to do, or the preflight would have refused.
func (w *World) ClearWay(ctx context.Context) (told string, err error) {
	if !w.Settings.Fresh {
		return "", nil
	}
	_, strangers, err := w.jobSets(ctx)
	if err != nil {
		return "", err
	}
	// What can be undone comes first.
	if told, err = w.moveAside(); err != nil {
		return "", err
	}
	if err := w.remove(ctx, strangers); err != nil {
		return told, err
	}
	if len(strangers) > 0 {
		told += fmt.Sprintf("--fresh: the JobSets %s of namespace %s were deleted.\n", strings.Join(strangers, ", "), w.Pins.Namespace)
	}
	return told, nil
}

// Freshen takes away what an earlier run of this suite left: its JobSets in the
// lab's namespace and its files in the work directory. Nothing of anybody else's
// is touched.
func (w *World) Freshen(ctx context.Context) error {
	ours, _, err := w.jobSets(ctx)
	if err != nil {
		return err
	}
	if err := w.remove(ctx, ours); err != nil {
		return err
	}
	return w.ledger().clear(w.stepFiles())
}

// jobSets names those of the lab's namespace: this suite's own, and all others.
func (w *World) jobSets(ctx context.Context) (ours, strangers []string, err error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	var jobSets jobsetv1.JobSetList
	if err := w.client.List(ctx, &jobSets, client.InNamespace(w.Pins.Namespace)); err != nil {
		return nil, nil, fmt.Errorf("listing the JobSets of namespace %s: %w", w.Pins.Namespace, err)
	}
	for _, jobSet := range jobSets.Items {
		if appliedByUs(&jobSet) {
			ours = append(ours, jobSet.Name)
		} else {
			strangers = append(strangers, jobSet.Name)
		}
	}
	return ours, strangers, nil
}

// appliedByUs tells by managedFields whether this suite applied an object.
func appliedByUs(object client.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == fieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
	})
}

// stepFiles are the paths of all files that the steps write.
func (w *World) stepFiles() []string {
	var paths []string
	for _, step := range Steps() {
		for _, file := range step.Files {
			if path := filepath.Join(w.Settings.WorkDir, file); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
