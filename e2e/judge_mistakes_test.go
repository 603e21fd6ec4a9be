package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"gsb.test/jobset-e2e/e2e/lab"
)

// mistaken is the walked lab with one JobSet under the name of a mistake.
func mistaken(t *testing.T, jobSetName, mistake string) *lab.Snapshot {
	t.Helper()
	snapshot, err := lab.ParseSnapshot([]byte(strings.ReplaceAll(string(read(t, "walked.yaml")), jobSetName, mistake)))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// replacedByTheJob is what the cluster shows after mistake 1: the worker Job has
// put a new pod, of the same attempt, in the place of the failed one.
func replacedByTheJob(t *testing.T) *lab.Snapshot {
	s := mistaken(t, "fragile", lab.Mistakes()[0].Name)
	name := lab.Mistakes()[0].Name
	jobSet(s, name).Status.Restarts = 0
	for _, role := range []string{"leader", "worker"} {
		p := pod(s, name+"-"+role)
		p.Labels[attempt] = "0"
		p.UID = "of-attempt-0-" + p.UID
	}
	return s
}

// queuedOneByOne is what the cluster shows after mistake 2: each Job has a
// Workload of its own, the JobSet has none.
func queuedOneByOne(t *testing.T) *lab.Snapshot {
	s := mistaken(t, "train", lab.Mistakes()[1].Name)
	name := lab.Mistakes()[1].Name
	jobSet(s, name).Labels = nil
	owned := s.Workloads[0].DeepCopy()
	s.Workloads = nil
	var kept []lab.Sighting
	for _, seen := range s.Seen.Sightings {
		if seen.Kind != "Workload" {
			kept = append(kept, seen)
		}
	}
	s.Seen.Sightings = kept
	for _, job := range s.Jobs {
		if strings.HasPrefix(job.Name, name) {
			w := owned.DeepCopy()
			w.Name = "job-" + job.Name
			w.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: job.Name, UID: job.UID, Controller: ptr.To(true)}}
			s.Workloads = append(s.Workloads, *w)
		}
	}
	return s
}

func TestJudgeMistakes(t *testing.T) {
	var told strings.Builder
	for i, judged := range []struct {
		happens func(t *testing.T) *lab.Snapshot
		wrong   []variation
	}{
		{replacedByTheJob, []variation{
			{"the JobSet restarted after all", func(s *lab.Snapshot) { jobSet(s, lab.Mistakes()[0].Name).Status.Restarts = 1 }},
			{"the new pod is of a new attempt", func(s *lab.Snapshot) { pod(s, lab.Mistakes()[0].Name+"-worker").Labels[attempt] = "1" }},
			{"the failed pod is not replaced yet", func(s *lab.Snapshot) {
				pod(s, lab.Mistakes()[0].Name+"-worker").Status.Phase = corev1.PodFailed
			}},
			{"no pod ever failed", func(s *lab.Snapshot) {
				for i := range s.Seen.Sightings {
					s.Seen.Sightings[i].Moments = s.Seen.Sightings[i].Moments[:1]
				}
			}},
		}},
		{queuedOneByOne, []variation{
			{"only one Job was judged", func(s *lab.Snapshot) { s.Workloads = s.Workloads[1:] }},
			{"Kueue has not looked yet", func(s *lab.Snapshot) { s.Workloads[0].Status.Conditions = nil }},
			{"the JobSet has a Workload after all", func(s *lab.Snapshot) {
				s.Seen.Sightings = append(s.Seen.Sightings, lab.Sighting{Kind: "Workload", Name: "jobset-train", UID: "x",
					JobSet: lab.Mistakes()[1].Name, Moments: []lab.Moment{{State: "Seen"}, {At: 1, State: "Gone"}}})
			}},
			{"nothing was applied", func(s *lab.Snapshot) { drop(s, lab.Mistakes()[1].Name) }},
		}},
	} {
		mistake := lab.Mistakes()[i]
		if refusal := mistake.Judge(judged.happens(t)); refusal != "" {
			t.Errorf("%s: %s", mistake, refusal)
		}
		for _, wrong := range judged.wrong {
			snapshot := judged.happens(t)
			wrong.change(snapshot)
			refusal := mistake.Judge(snapshot)
			if refusal == "" {
				t.Errorf("%s, %s: passed", mistake, wrong.name)
			}
			fmt.Fprintf(&told, "## %s: %s\n\n%s\n\n", mistake.Name, wrong.name, refusal)
		}
	}
	golden(t, "mistakes.txt", told.String())
}
