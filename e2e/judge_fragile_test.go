package e2e

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/lab"
)

const attempt = "jobset.sigs.k8s.io/restart-attempt"

var _ = vary(4, variations{
	wrong: []variation{
		{"never failed", func(s *lab.Snapshot) {
			jobSet(s, "fragile").Status.Restarts = 0
			s.Files["restart.txt"] = "restarts=0\n"
		}},
		{"no backoffLimit", func(s *lab.Snapshot) { role(s, "fragile", "worker").Template.Spec.BackoffLimit = nil }},
		{"backoffLimit 1", func(s *lab.Snapshot) { role(s, "fragile", "worker").Template.Spec.BackoffLimit = ptr.To[int32](1) }},
		{"no failurePolicy", func(s *lab.Snapshot) { jobSet(s, "fragile").Spec.FailurePolicy = nil }},
		{"maxRestarts 3", func(s *lab.Snapshot) { jobSet(s, "fragile").Spec.FailurePolicy.MaxRestarts = 3 }},
		{"failed three times", func(s *lab.Snapshot) {
			fragile := jobSet(s, "fragile")
			fragile.Status.Restarts = 2
			fragile.Status.Conditions = []metav1.Condition{{Type: "Failed", Status: "True", Reason: "ReachedMaxRestarts",
				Message: "jobset failed due to reaching max number of restarts"}}
			s.Files["restart.txt"] = "restarts=2\n"
		}},
		{"the leader is still of the old attempt", func(s *lab.Snapshot) { pod(s, "fragile-leader").Labels[attempt] = "0" }},
		{"an old pod that was only relabelled", func(s *lab.Snapshot) {
			leader := pod(s, "fragile-leader")
			leader.Name, leader.UID = "fragile-leader-0-0-b7c2k", "pod-fragile-leader-0-0"
		}},
		{"the new worker is not up", func(s *lab.Snapshot) {
			status := &pod(s, "fragile-worker").Status
			status.Phase, status.Conditions = corev1.PodPending, nil
			status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
		}},
		{"no restart.txt", func(s *lab.Snapshot) { delete(s.Files, "restart.txt") }},
		{"a stale number", func(s *lab.Snapshot) {
			jobSet(s, "fragile").Status.Restarts = 2
			pod(s, "fragile-leader").Labels[attempt] = "2"
			pod(s, "fragile-worker").Labels[attempt] = "2"
			pod(s, "fragile-leader").UID, pod(s, "fragile-worker").UID = "newer-leader", "newer-worker"
		}},
		{"restarts=0", func(s *lab.Snapshot) { s.Files["restart.txt"] = "restarts=0\n" }},
		{"a number without the key", func(s *lab.Snapshot) { s.Files["restart.txt"] = "1\n" }},
		{"a word for the number", func(s *lab.Snapshot) { s.Files["restart.txt"] = "restarts=one\n" }},
	},
	right: []variation{
		{"two restarts", func(s *lab.Snapshot) {
			jobSet(s, "fragile").Status.Restarts = 2
			pod(s, "fragile-leader").Labels[attempt] = "2"
			pod(s, "fragile-worker").Labels[attempt] = "2"
			pod(s, "fragile-leader").UID, pod(s, "fragile-worker").UID = "newer-leader", "newer-worker"
			s.Files["restart.txt"] = "restarts=2"
		}},
		{"the old pods still Terminating", func(s *lab.Snapshot) {
			old := pod(s, "fragile-leader").DeepCopy()
			old.Name, old.UID, old.DeletionTimestamp = "fragile-leader-0-0-b7c2k", "pod-fragile-leader-0-0", &metav1.Time{}
			old.Labels[attempt] = "0"
			s.Pods = append(s.Pods, *old)
		}},
		{"blanks around the number", func(s *lab.Snapshot) { s.Files["restart.txt"] = "restarts = 1  \r\n\r\n" }},
		{"another way to fail", func(s *lab.Snapshot) {
			role(s, "fragile", "worker").Template.Spec.Template.Spec.Containers[0].Command =
				[]string{"sh", "-c", "until [ -f /tmp/fail ]; do sleep 2; done; false"}
		}},
	},
})

var _ = vary(5, variations{
	wrong: []variation{
		{"no successPolicy", func(s *lab.Snapshot) {
			jobSet(s, "eval").Spec.SuccessPolicy = &jobsetv1.SuccessPolicy{Operator: jobsetv1.OperatorAll}
		}},
		{"All, over the leader", func(s *lab.Snapshot) { jobSet(s, "eval").Spec.SuccessPolicy.Operator = jobsetv1.OperatorAll }},
		{"Any, over the worker", func(s *lab.Snapshot) {
			jobSet(s, "eval").Spec.SuccessPolicy.TargetReplicatedJobs = []string{"worker"}
		}},
		{"Any, over every role", func(s *lab.Snapshot) { jobSet(s, "eval").Spec.SuccessPolicy.TargetReplicatedJobs = nil }},
		{"not Completed yet", func(s *lab.Snapshot) { jobSet(s, "eval").Status.Conditions = nil }},
		{"ended Failed", func(s *lab.Snapshot) {
			jobSet(s, "eval").Status.Conditions = []metav1.Condition{{Type: "Failed", Status: "True", Reason: "FailedJobs",
				Message: "jobset failed due to one or more job failures"}}
		}},
		{"the workers finished too, before they were deleted", func(s *lab.Snapshot) {
			for i, seen := range s.Seen.Sightings {
				if seen.Kind == "Job" && seen.JobSet == "eval" && seen.Role == "worker" {
					s.Seen.Sightings[i].Moments = append(seen.Moments, lab.Moment{At: 18.5, State: "Complete"})
				}
			}
		}},
		{"Completed, but no leader Job ever was", func(s *lab.Snapshot) {
			s.Jobs = slices.DeleteFunc(s.Jobs, func(j batchv1.Job) bool { return strings.HasPrefix(j.Name, "eval-leader") })
			s.Seen.Sightings = slices.DeleteFunc(s.Seen.Sightings, func(seen lab.Sighting) bool { return seen.Name == "eval-leader-0" })
		}},
		{"one worker", func(s *lab.Snapshot) {
			job := &role(s, "eval", "worker").Template.Spec
			job.Parallelism, job.Completions = ptr.To[int32](1), ptr.To[int32](1)
		}},
	},
	right: []variation{
		{"the workers still Terminating", func(s *lab.Snapshot) {
			worker := pod(s, "hello-worker-0-0").DeepCopy()
			worker.Name, worker.UID, worker.DeletionTimestamp = "eval-worker-0-0-d5h8w", "pod-eval-worker-0-0", &metav1.Time{}
			worker.Labels[jobsetv1.JobSetNameKey] = "eval"
			s.Pods = append(s.Pods, *worker)
		}},
		{"the leader Job is known from the record only", func(s *lab.Snapshot) {
			s.Jobs = slices.DeleteFunc(s.Jobs, func(j batchv1.Job) bool { return strings.HasPrefix(j.Name, "eval-leader") })
		}},
		{"another reason for Completed", func(s *lab.Snapshot) { jobSet(s, "eval").Status.Conditions[0].Reason = "SuccessPolicyMet" }},
	},
})
