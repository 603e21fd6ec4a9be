package answers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// solvedRecording is the lab that the answers on the solved lab share; of each of
// those only the files are recorded.
const solvedRecording = "solved-lab"

// record keeps a snapshot as test data.
func record(directory, name string, s *snapshot.Snapshot) error {
	recording, err := s.Recording()
	if err != nil {
		return err
	}
	content, err := recording.YAML()
	if err == nil {
		err = os.MkdirAll(directory, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, name+".yaml"), content, 0o644)
	}
	if err != nil {
		return fmt.Errorf("recording answer %s: %w", name, err)
	}
	return nil
}

// recorded is what is kept of an answer's snapshot.
func recorded(a Answer, s *snapshot.Snapshot) *snapshot.Snapshot {
	kept := &snapshot.Snapshot{Namespace: s.Namespace}
	if !a.OnSolvedLab {
		kept = only(s, a.Step.JobSets)
	}
	kept.Files, kept.FilesUnread = map[string]string{}, map[string]snapshot.Text{}
	for _, name := range a.Step.Files {
		if text, there := s.Files[name]; there {
			kept.Files[name] = text
		}
		if unread, there := s.FilesUnread[name]; there {
			kept.FilesUnread[name] = unread
		}
	}
	return kept
}

// only is a copy of a snapshot with what belongs to these JobSets or, by its name, seems to:
// answers in other lanes are none of their business.
func only(s *snapshot.Snapshot, jobSets []string) *snapshot.Snapshot {
	kept := *s
	named := func(name string) bool {
		return slices.ContainsFunc(jobSets, func(jobSet string) bool { return name == jobSet || strings.HasPrefix(name, jobSet+"-") })
	}
	kept.JobSets = slices.DeleteFunc(slices.Clone(s.JobSets), func(o jobsetv1.JobSet) bool { return !named(o.Name) })
	kept.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), func(o batchv1.Job) bool { return !named(o.Name) })
	kept.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(o corev1.Pod) bool { return !named(o.Name) })
	kept.Services = slices.DeleteFunc(slices.Clone(s.Services), func(o corev1.Service) bool { return !named(o.Name) })
	kept.Workloads = slices.DeleteFunc(slices.Clone(s.Workloads), func(o kueuev1.Workload) bool {
		owner := metav1.GetControllerOf(&o)
		return owner == nil || !named(owner.Name)
	})
	kept.Elsewhere = slices.DeleteFunc(slices.Clone(s.Elsewhere), func(path string) bool { return !named(path[strings.Index(path, "/")+1:]) })
	known := map[types.UID]bool{}
	kept.Seen.Objects = slices.DeleteFunc(slices.Clone(s.Seen.Objects), func(o snapshot.ObjectHistory) bool {
		known[o.UID] = named(o.JobSet) || named(o.Name)
		return !known[o.UID]
	})
	kept.Events = slices.DeleteFunc(slices.Clone(s.Events), func(e snapshot.Event) bool { return !known[e.UID] })
	return &kept
}
