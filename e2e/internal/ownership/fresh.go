package ownership

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// RemoveUnmanaged does what --fresh allows: the learner's JobSets in the lab's namespace
// are deleted, their YAML is kept, and the learner's files are moved aside. It
// returns what it did. Without --fresh there is nothing for it to do, or the
// preflight would have refused.
func RemoveUnmanaged(ctx context.Context, w *cluster.Cluster) (message string, err error) {
	if !w.Settings.Fresh {
		return "", nil
	}
	_, others, err := JobSets(ctx, w)
	if err != nil {
		return "", err
	}
	kept, err := yamlOf(ctx, w, others)
	if err != nil {
		return "", err
	}
	// What can be undone comes first.
	if message, err = backUpFiles(w, kept); err != nil {
		return message, err
	}
	if err := Remove(ctx, w, others); err != nil {
		return message, err
	}
	if len(others) > 0 {
		message += fmt.Sprintf("--fresh: the JobSets %s of namespace %s were deleted.\n", strings.Join(namesOf(others), ", "), w.Pins.Namespace)
	}
	return message, nil
}

// CleanUpPreviousRun takes away what an earlier run of this suite left: its JobSets in the
// lab's namespace and its files in the work directory. Nothing of anybody else's
// is touched.
func CleanUpPreviousRun(ctx context.Context, w *cluster.Cluster) error {
	ours, _, err := JobSets(ctx, w)
	if err != nil {
		return err
	}
	if err := Remove(ctx, w, ours); err != nil {
		return err
	}
	return FileRecordOf(w).Clear(StepFiles(w))
}

// JobSets lists those of the lab's namespace: this suite's own, and all others.
func JobSets(ctx context.Context, w *cluster.Cluster) (ours, others []jobsetv1.JobSet, err error) {
	var jobSets jobsetv1.JobSetList
	err = w.Persist(ctx, func(ctx context.Context) error {
		return w.API.List(ctx, &jobSets, client.InNamespace(w.Pins.Namespace))
	})
	if err != nil {
		return nil, nil, fmt.Errorf("listing the JobSets of namespace %s: %w", w.Pins.Namespace, err)
	}
	for _, jobSet := range jobSets.Items {
		if appliedByUs(&jobSet) {
			ours = append(ours, jobSet)
		} else {
			others = append(others, jobSet)
		}
	}
	return ours, others, nil
}

// yamlOf renders JobSets as kubectl get -o yaml does, but for what would keep
// kubectl create -f from taking them back. They are read anew, since the types that
// this suite was built with need not know every field.
func yamlOf(ctx context.Context, w *cluster.Cluster, jobSets []jobsetv1.JobSet) ([]byte, error) {
	if len(jobSets) == 0 {
		return nil, nil
	}
	ctx, cancel := cluster.Brief(ctx)
	defer cancel()
	var items []any
	for _, jobSet := range jobSets {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(jobsetv1.SchemeGroupVersion.WithKind("JobSet"))
		if err := w.API.Get(ctx, client.ObjectKeyFromObject(&jobSet), object); err != nil {
			return nil, fmt.Errorf("reading JobSet %s, to keep its YAML: %w", jobSet.Name, err)
		}
		for _, field := range []string{"managedFields", "uid", "resourceVersion"} {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		items = append(items, object.Object)
	}
	content, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return nil, fmt.Errorf("writing the YAML of the learner's JobSets: %w", err)
	}
	return content, nil
}

// StepFiles are the paths of all files that the steps write.
func StepFiles(w *cluster.Cluster) []string {
	var paths []string
	for _, name := range w.Settings.Files {
		paths = append(paths, filepath.Join(w.Settings.WorkDir, name))
	}
	return paths
}
