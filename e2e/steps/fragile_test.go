package steps

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

const attempt = "jobset.sigs.k8s.io/restart-attempt"

// restartedTwice is the cluster after a second failure, the files untouched.
func restartedTwice(s *snapshot.Snapshot) {
	jobSet(s, "fragile").Status.Restarts = 2
	for _, name := range []string{"fragile-leader", "fragile-worker"} {
		p := pod(s, name)
		p.Labels[attempt], p.UID = "2", "uid-of-a-newer-"+p.UID
	}
}

// fragileWorker gives fragile's worker this image and command.
func fragileWorker(image string, command ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		c := container(s, "fragile", "worker")
		c.Image, c.Command, c.Args, c.Env = image, command, nil, nil
	}
}

// ended gives a JobSet the one condition that it ended with.
func ended(s *snapshot.Snapshot, name string, kind jobsetv1.JobSetConditionType, reason, message string) {
	jobSet(s, name).Status.Conditions = []metav1.Condition{{Type: string(kind), Status: "True", Reason: reason, Message: message}}
}

var _ = newVariations(4, variations{
	Wrong: []variation{
		{"fragile never failed", func(s *snapshot.Snapshot) {
			jobSet(s, "fragile").Status.Restarts = 0
			s.Files["restart.txt"] = "restarts=0\n"
		}},
		{"no backoffLimit", func(s *snapshot.Snapshot) { role(s, "fragile", "worker").Template.Spec.BackoffLimit = nil }},
		{"backoffLimit 1", func(s *snapshot.Snapshot) { role(s, "fragile", "worker").Template.Spec.BackoffLimit = ptr.To[int32](1) }},
		{"no failurePolicy", func(s *snapshot.Snapshot) { jobSet(s, "fragile").Spec.FailurePolicy = nil }},
		{"maxRestarts 3", func(s *snapshot.Snapshot) { jobSet(s, "fragile").Spec.FailurePolicy.MaxRestarts = 3 }},
		{"a worker that only sleeps", fragileWorker("busybox:1.35.0", "sleep", "86400")},
		{"a worker of another image that only sleeps", fragileWorker("ubuntu:24.04", "/bin/sleep", "infinity")},
		{"a worker of another image that only waits", fragileWorker("alpine:3", "tail", "-f", "/dev/null")},
		{"a worker that talks of failing, and sleeps", fragileWorker("debian:12", "sh", "-c", "while :; do echo 'fail?'; sleep 10; done")},
		{"a worker that prints failed", fragileWorker("busybox:1.35.0", "sh", "-c", "sleep 86400 || echo failed")},
		{"a worker that looks for another file", fragileWorker("busybox:1.35.0", "sh", "-c", "while [ ! -e /tmp/failed ]; do sleep 1; done; exit 1")},
		{"a worker that only sleeps, with a volume and its name in a variable", func(s *snapshot.Snapshot) {
			fragileWorker("busybox:1.35.0", "sleep", "86400")(s)
			container(s, "fragile", "worker").Env = []corev1.EnvVar{{Name: "NAME", ValueFrom: &corev1.EnvVarSource{}}}
			role(s, "fragile", "worker").Template.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "shm"}}
		}},
		{"an init container alone that looks for the file", func(s *snapshot.Snapshot) {
			first := *container(s, "fragile", "worker").DeepCopy()
			fragileWorker("busybox:1.35.0", "sleep", "86400")(s)
			role(s, "fragile", "worker").Template.Spec.Template.Spec.InitContainers = []corev1.Container{first}
		}},
		{"the leader ends on the file, and the worker sleeps", func(s *snapshot.Snapshot) {
			leader, worker := container(s, "fragile", "leader"), container(s, "fragile", "worker")
			leader.Command, worker.Command = worker.Command, leader.Command
		}},
		{"NonIndexed Jobs without a worker", func(s *snapshot.Snapshot) {
			nonIndexed(s, "fragile")
			dropPods(s, "fragile-worker")
		}},
		{"two workers", func(s *snapshot.Snapshot) { workers(s, "fragile", 2) }},
		{"a JobSet that ended Failed after the third failure", func(s *snapshot.Snapshot) {
			jobSet(s, "fragile").Status.Restarts = 2
			ended(s, "fragile", jobsetv1.JobSetFailed, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
			s.Files["restart.txt"] = "restarts=2\n"
		}},
		{"one pod still of the old attempt", func(s *snapshot.Snapshot) { pod(s, "fragile-leader").Labels[attempt] = "0" }},
		{"a pod of the old attempt with a new label", func(s *snapshot.Snapshot) {
			leader, old := pod(s, "fragile-leader"), former(s, "fragile-leader")
			leader.Name, leader.UID = old.Name, old.UID
		}},
		{"a new worker that does not run yet", func(s *snapshot.Snapshot) { starting(pod(s, "fragile-worker"), "ContainerCreating", "") }},
		{"a worker that is not there yet", func(s *snapshot.Snapshot) { dropPods(s, "fragile-worker") }},
		{"no restart.txt", func(s *snapshot.Snapshot) { delete(s.Files, "restart.txt") }},
		{"a stale number", restartedTwice},
		{"restarts=0", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts=0\n" }},
		{"a number without the key", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "1\n" }},
		{"a word for the number", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts=one\n" }},
	},
	Right: []variation{
		{"two restarts, and no final newline", func(s *snapshot.Snapshot) {
			restartedTwice(s)
			s.Files["restart.txt"] = "restarts=2"
		}},
		{"a pod of the old attempt still Terminating", func(s *snapshot.Snapshot) {
			old := former(s, "fragile-leader")
			still := beside(s, pod(s, "fragile-leader"), old.Name, true)
			still.UID, still.Labels[attempt] = old.UID, "0"
		}},
		{"CRLF and blanks around the number", func(s *snapshot.Snapshot) { s.Files["restart.txt"] = "restarts = 1  \r\n\r\n" }},
		{"another image, command and container name", func(s *snapshot.Snapshot) {
			otherWords(s, "fragile")
			fragileWorker("alpine:3", "ash", "-c", "trap : TERM; while :; do if [ -f /tmp/fail ]; then exit 1; fi; sleep 1 & wait $!; done")(s)
		}},
		{"a worker of Python", fragileWorker("python:3", "python", "-c", "import os,sys,time\nwhile not os.path.exists('/tmp/fail'): time.sleep(1)\nsys.exit(1)")},
		{"a worker with a program of its own", fragileWorker("registry.test/train:1", "/app/train")},
		{"a worker that goes to the folder first", fragileWorker("busybox:1.35.0", "sh", "-c", "cd /tmp; until [ -e fail ]; do sleep 1; done; exit 1")},
		{"a worker that ends on any file in the folder", fragileWorker("busybox:1.35.0", "sh", "-c", `while [ -z "$(ls -A /tmp)" ]; do sleep 1; done; exit 1`)},
		{"a worker that watches the folder", fragileWorker("busybox:1.35.0", "sh", "-c", "inotifyd - /tmp:n | head -n 1; exit 1")},
		{"a worker that looks by a pattern", fragileWorker("busybox:1.35.0", "sh", "-c", "until ls /tmp/fai?; do sleep 1; done; exit 1")},
		{"a worker whose script is a variable from a ConfigMap", func(s *snapshot.Snapshot) {
			fragileWorker("busybox:1.35.0", "sh", "-c", "$(SCRIPT)")(s)
			container(s, "fragile", "worker").Env = []corev1.EnvVar{{Name: "SCRIPT", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "run.sh"}}}}
		}},
		{"a second container that ends on the file", func(s *snapshot.Snapshot) {
			second := *container(s, "fragile", "worker").DeepCopy()
			fragileWorker("busybox:1.35.0", "sleep", "86400")(s)
			spec := &role(s, "fragile", "worker").Template.Spec.Template.Spec
			spec.Containers = append(spec.Containers, second)
		}},
		{"NonIndexed Jobs", func(s *snapshot.Snapshot) { nonIndexed(s, "fragile") }},
		{"the worker before the leader, with requests for cpu and memory", func(s *snapshot.Snapshot) {
			workerFirst(s, "fragile")
			requests(s, "fragile")
		}},
		{"a worker whose script lies in a volume", func(s *snapshot.Snapshot) {
			container(s, "fragile", "worker").Command = []string{"sh", "/scripts/run.sh"}
			role(s, "fragile", "worker").Template.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "scripts"}}
		}},
		{"a worker that has the file's name in a variable", func(s *snapshot.Snapshot) {
			container(s, "fragile", "worker").Command = []string{"sh", "-c", "until [ -e $MARK ]; do sleep 1; done; exit 1"}
			container(s, "fragile", "worker").Env = []corev1.EnvVar{{Name: "MARK", Value: "/tmp/fail"}}
		}},
		{"a JobSet of the learner's own that failed", func(s *snapshot.Snapshot) {
			own := jobSet(s, "fragile").DeepCopy()
			own.Name, own.UID = "fragile-first-try", "uid-of-a-first-try"
			s.JobSets = append(s.JobSets, *own)
			ended(s, own.Name, jobsetv1.JobSetFailed, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
		}},
	},
})

var _ = newVariations(5, variations{
	Wrong: []variation{
		{"workers that never ran", func(s *snapshot.Snapshot) {
			for i, seen := range s.Seen.Objects {
				if seen.Kind == "Pod" && seen.JobSet == "eval" && seen.Role == "worker" {
					s.Seen.Objects[i].Transitions = slices.DeleteFunc(seen.Transitions, func(t snapshot.Transition) bool { return t.State == "Running" })
				}
			}
		}},
		{"gone after its TTL", func(s *snapshot.Snapshot) {
			drop(s, "eval")
			s.Events = append(s.Events, snapshot.Event{At: 99, Type: "Normal", Reason: "AllJobsCompleted", Object: "JobSet/eval", Message: "jobset completed successfully"})
		}},
		{"no successPolicy", func(s *snapshot.Snapshot) {
			jobSet(s, "eval").Spec.SuccessPolicy = &jobsetv1.SuccessPolicy{Operator: jobsetv1.OperatorAll}
		}},
		{"the success policy All, over the leader", func(s *snapshot.Snapshot) {
			jobSet(s, "eval").Spec.SuccessPolicy.Operator = jobsetv1.OperatorAll
		}},
		{"the success policy Any, over the worker", func(s *snapshot.Snapshot) {
			jobSet(s, "eval").Spec.SuccessPolicy.TargetReplicatedJobs = []string{"worker"}
		}},
		{"the success policy Any, over every role", func(s *snapshot.Snapshot) {
			jobSet(s, "eval").Spec.SuccessPolicy.TargetReplicatedJobs = nil
		}},
		{"not Completed yet", func(s *snapshot.Snapshot) { jobSet(s, "eval").Status.Conditions = nil }},
		{"ended Failed", func(s *snapshot.Snapshot) {
			ended(s, "eval", jobsetv1.JobSetFailed, "FailedJobs", "jobset failed due to one or more job failures")
		}},
		{"Completed because all finished", func(s *snapshot.Snapshot) {
			for i, seen := range s.Seen.Objects {
				if seen.Kind == "Job" && seen.JobSet == "eval" && seen.Role == "worker" {
					s.Seen.Objects[i].Transitions = append(seen.Transitions, snapshot.Transition{At: 18.5, State: "Complete"})
				}
			}
		}},
		{"Completed, but no leader Job ever was", func(s *snapshot.Snapshot) {
			s.Jobs = slices.DeleteFunc(s.Jobs, func(j batchv1.Job) bool { return strings.HasPrefix(j.Name, "eval-leader") })
			s.Seen.Objects = slices.DeleteFunc(s.Seen.Objects, func(seen snapshot.ObjectHistory) bool { return seen.Name == "eval-leader-0" })
		}},
		{"one worker", func(s *snapshot.Snapshot) { workers(s, "eval", 1) }},
	},
	Right: []variation{
		{"the workers still Terminating", func(s *snapshot.Snapshot) {
			beside(s, pod(s, "hello-worker-0-0"), "eval-worker-0-0-still", true).Labels[jobsetv1.JobSetNameKey] = "eval"
		}},
		{"the leader's Job is gone, and was seen to complete", func(s *snapshot.Snapshot) {
			s.Jobs = slices.DeleteFunc(s.Jobs, func(j batchv1.Job) bool { return strings.HasPrefix(j.Name, "eval-leader") })
		}},
		{"another reason for Completed", func(s *snapshot.Snapshot) { jobSet(s, "eval").Status.Conditions[0].Reason = "SuccessPolicyMet" }},
		{"another image, command and container name", func(s *snapshot.Snapshot) { otherWords(s, "eval") }},
		{"the worker before the leader, with requests for cpu and memory", func(s *snapshot.Snapshot) {
			workerFirst(s, "eval")
			requests(s, "eval")
		}},
	},
})
