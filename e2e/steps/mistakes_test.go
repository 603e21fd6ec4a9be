package steps

import (
	"maps"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// once adds an object to the history that came and went.
func once(s *snapshot.Snapshot, kind, name, jobSetName, roleName string) {
	s.Seen.Objects = append(s.Seen.Objects, snapshot.ObjectHistory{Kind: kind, Name: name, UID: "uid-of-one-that-is-gone", JobSet: jobSetName, Role: roleName,
		Transitions: []snapshot.Transition{{At: 0.1, State: "Seen"}, {At: 0.9, State: "Gone"}}})
}

func restarted(s *snapshot.Snapshot) { jobSet(s, "fragile").Status.Restarts = 1 }

func hasAWorkload(jobSetName string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { once(s, "Workload", "jobset-"+jobSetName, jobSetName, "") }
}

func hadAPod(s *snapshot.Snapshot) { once(s, "Pod", "train-leader-0-0-once", "train", "leader") }

// unlike are, for each mistake, labs in which it does not do what its record tells.
var unlike = map[string][]variation{
	"hello-of-the-labels-group": {
		{"it was there for a moment", func(s *snapshot.Snapshot) { once(s, "JobSet", "hello", "hello", "") }},
	},
	"hello-without-completions": {
		{"a worker Job was there once", func(s *snapshot.Snapshot) { once(s, "Job", "hello-worker-0", "hello", "worker") }},
		{"the leader does not run", func(s *snapshot.Snapshot) { starting(pod(s, "hello-leader"), "ContainerCreating", "") }},
	},
	"hello-without-parallelism": {
		{"a second worker runs too", func(s *snapshot.Snapshot) {
			beside(s, pod(s, "hello-worker-0-0"), "hello-worker-0-1-aaaaa", false).Labels[batchv1.JobCompletionIndexAnnotation] = "1"
		}},
		{"the second worker and not the first", func(s *snapshot.Snapshot) {
			pod(s, "hello-worker").Labels[batchv1.JobCompletionIndexAnnotation] = "1"
		}},
	},
	"fragile-without-backofflimit": {
		{"the JobSet restarted after all", restarted},
		{"no pod has failed yet", func(s *snapshot.Snapshot) { job(s, "fragile-worker-0").Status.Failed = 0 }},
		{"the Job failed with its pod", func(s *snapshot.Snapshot) {
			job(s, "fragile-worker-0").Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: "True"}}
		}},
		{"a pod is of a new attempt", func(s *snapshot.Snapshot) { pod(s, "fragile-leader").Labels[attempt] = "1" }},
	},
	"fragile-restarts-in-place": {
		{"the JobSet restarted after all", restarted},
		{"no container was restarted", func(s *snapshot.Snapshot) { pod(s, "fragile-worker").Status.ContainerStatuses[0].RestartCount = 0 }},
	},
	"eval-target-misspelt": {
		{"it was there for a moment", func(s *snapshot.Snapshot) { once(s, "JobSet", "eval", "eval", "") }},
	},
	"eval-without-successpolicy": {
		{"it completed after all", func(s *snapshot.Snapshot) {
			ended(s, "eval", jobsetv1.JobSetCompleted, "AllJobsCompleted", "jobset completed successfully")
		}},
		{"the leader has not finished", func(s *snapshot.Snapshot) {
			job(s, "eval-leader-0").Status.Conditions = nil
			for i, seen := range s.Seen.Objects {
				if seen.Name == "eval-leader-0" {
					s.Seen.Objects[i].Transitions = seen.Transitions[:1]
				}
			}
		}},
	},
	"train-label-on-job-template": {
		{"only one Job was judged", func(s *snapshot.Snapshot) { dropWorkload(s, "train-leader") }},
		{"Kueue has not looked yet", func(s *snapshot.Snapshot) { workload(s, "train-leader").Status.Conditions = nil }},
		{"the JobSet has a Workload after all", hasAWorkload("train")},
	},
	"train-label-on-pod-template": {
		{"only two pods were judged", func(s *snapshot.Snapshot) { dropWorkload(s, "train-worker-0-1") }},
		{"Kueue has not looked yet", func(s *snapshot.Snapshot) { workload(s, "train-worker-0-0").Status.Conditions = nil }},
		{"the JobSet has a Workload after all", hasAWorkload("train")},
	},
	"train-gpus-in-requests-only": {
		{"Kueue does not admit it", func(s *snapshot.Snapshot) { workload(s, "train").Status.Conditions = nil }},
		{"a Job was there once", func(s *snapshot.Snapshot) { once(s, "Job", "train-worker-0", "train", "worker") }},
	},
	"train-with-a-cpu-request": {
		{"Kueue has not looked yet", func(s *snapshot.Snapshot) { workload(s, "train").Status.Conditions = nil }},
		{"Kueue admits it", func(s *snapshot.Snapshot) { refusedQuota(s, "train").Status = metav1.ConditionTrue }},
		{"the queue covers cpu", coverAll},
		{"a pod was there once", hadAPod},
	},
	"train-in-the-clusterqueue": {
		{"Kueue has not looked yet", func(s *snapshot.Snapshot) { workload(s, "train").Status.Conditions = nil }},
		{"Kueue weighs it against a quota", func(s *snapshot.Snapshot) { refusedQuota(s, "train").Reason = "Pending" }},
		{"it is not suspended", func(s *snapshot.Snapshot) { jobSet(s, "train").Spec.Suspend = ptr.To(false) }},
		{"a pod was there once", hadAPod},
	},
	"big-without-queue": {
		{"a pod does not run yet", func(s *snapshot.Snapshot) { starting(pod(s, "big-leader"), "ContainerCreating", "") }},
		{"the fifth pod has not been looked at", func(s *snapshot.Snapshot) {
			for i := range s.Pods {
				if s.Pods[i].Status.Phase == "Pending" {
					s.Pods[i].Status.Conditions = nil
				}
			}
		}},
		{"the JobSet has a Workload after all", hasAWorkload("big")},
	},
	"big-each-role-within-quota": {
		{"a pod was there once", func(s *snapshot.Snapshot) { once(s, "Pod", "big-leader-0-0-once", "big", "leader") }},
		{"Kueue admits it", func(s *snapshot.Snapshot) { refusedQuota(s, "big").Status = metav1.ConditionTrue }},
		{"Kueue has not looked yet", func(s *snapshot.Snapshot) { workload(s, "big").Status.Conditions = nil }},
		{"it is not suspended", func(s *snapshot.Snapshot) { jobSet(s, "big").Spec.Suspend = ptr.To(false) }},
		{"the GPUs were not free", func(s *snapshot.Snapshot) {
			s.ClusterQueue.Status.FlavorsReservation[0].Resources[0].Total = resource.MustParse("3")
		}},
		{"one role alone is over the quota", func(s *snapshot.Snapshot) { workload(s, "big").Spec.PodSets[0].Count = 4 }},
	},
}

// A file that no mistake is told of would never be tried.
func TestEveryMistakeHasItsFileAndTheNameOfItsStepsJobSet(t *testing.T) {
	t.Parallel()
	files := map[string]bool{}
	for _, name := range fixtures.Names() {
		if strings.HasPrefix(name, "mistakes/") {
			files[name] = true
		}
	}
	for _, mistake := range Course.Mistakes {
		name := "mistakes/" + mistake.Name + ".yaml"
		content, err := fixtures.Read(name)
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(content), "\n  name: "+mistake.JobSet+"\n") {
			t.Errorf("%s is not of JobSet %s, as its step asks for", name, mistake.JobSet)
		}
		delete(files, name)
	}
	if len(files) > 0 {
		t.Errorf("no mistake is told of %v", slices.Sorted(maps.Keys(files)))
	}
}

// Every mistake is judged on the snapshot that it was really passed on, refused on
// each that is unlike it, and refused by the check of the step that it is made in.
func TestMistakesAreJudged(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, mistake := range Course.Mistakes {
		file := "mistakes/" + mistake.Name + ".yaml"
		if check := mistake.Judge(recorded(t, file)); len(check.Mismatches) > 0 {
			t.Errorf("%s: %v", mistake, check.Mismatches)
		}
		step := Course.Steps[mistake.Step-1]
		if check := step.Judge(recorded(t, file)); len(check.Mismatches) == 0 {
			t.Errorf("%s passes its step", mistake)
		} else {
			told.WriteString(refused(mistake.Name+": the step's own check", check))
		}

		wrong := append([]variation{{"the step done right", func(s *snapshot.Snapshot) { *s = *solved(t) }}}, unlike[mistake.Name]...)
		if mistake.Refused == "" {
			wrong = append(wrong, variation{"nothing was applied", func(s *snapshot.Snapshot) { drop(s, mistake.JobSet) }})
		}
		if len(wrong) < 2 {
			t.Errorf("%s: no lab that is unlike it", mistake)
		}
		for _, wrong := range wrong {
			snapshot := recorded(t, file)
			wrong.change(snapshot)
			if check := mistake.Judge(snapshot); len(check.Mismatches) == 0 {
				t.Errorf("%s, %s: passed", mistake, wrong.name)
			} else {
				told.WriteString(refused(mistake.Name+": "+wrong.name, check))
			}
		}
	}
	golden(t, "mistakes.txt", told.String())
}
