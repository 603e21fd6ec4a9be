package matchers

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HaveHadRunningPods judges, by all that was seen, that pods of the role really ran. The
// JobSet controller deletes them once a JobSet has succeeded, so a single reading has
// only their events, and where those are gone too it refuses nothing.
func HaveHadRunningPods() Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		s, known := r.Of.Snapshot, false
		for _, pod := range s.Seen.Ever("Pod", r.Of.Name) {
			if pod.Role == r.Name && !known {
				known = true
			}
			if pod.Role == r.Name && pod.Reached(string(corev1.PodRunning)) {
				return nil
			}
		}
		var complaint string
		for _, event := range s.Events {
			if !strings.HasPrefix(event.Object, "Pod/"+r.Of.Name+"-"+r.Name+"-") {
				continue
			}
			if event.Reason == "Started" {
				return nil
			}
			if event.Type == corev1.EventTypeWarning {
				complaint = event.Message
			}
		}
		if complaint == "" && (s.ReadOnly || !known) {
			return nil
		}
		return NewMismatch(WorkerNeverRan, snapshot.TextOf("JobSet %s 의 %s 파드가 한 번도 Running 이 되지 않았는데, 리더가 끝날 때까지 계속 떠 있어야 합니다.",
			"No %[2]s pod of JobSet %[1]s ever ran; they should run until the leader has finished.", r.Of.Name, r.Name)).
			Row(r.Name+" pods", "Running", complaint)
	}
}

// EndOnFile judges that the containers of a role can do what the lab text says: end when
// a file appears. A command that is written out and knows nothing of that file cannot;
// what a script does that lies in a volume or in an image of one's own is left open.
func EndOnFile(file string) Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		pod := r.Fields.Template.Spec.Template.Spec
		if len(pod.Volumes) > 0 {
			return nil
		}
		var commands []string
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			command := slices.Concat(container.Command, container.Args)
			for _, variable := range container.Env {
				command = append(command, variable.Value)
			}
			if len(container.EnvFrom) > 0 || len(command) == 0 || !isBusybox(container.Image) {
				return nil
			}
			// The file may be put together from parts, such as a folder in a variable.
			if whole := strings.Join(command, " "); strings.Contains(whole, path.Base(file)) {
				return nil
			}
			commands = append(commands, strings.Join(command, " "))
		}
		return NewMismatch(WorkerCannotFail, snapshot.TextOf("JobSet %s 의 %s 컨테이너는 %s 파일을 보지 않아서, 그 파일이 생겨도 실패하지 않습니다.",
			"JobSet %s has a %s container that does not look for %s, so it does not fail when that file appears.", r.Of.Name, r.Name, file)).
			Row("command of "+r.Name, "one that looks for "+file, strings.Join(commands, "; "))
	}
}

func isBusybox(image string) bool {
	name, _, _ := strings.Cut(path.Base(image), ":")
	name, _, _ = strings.Cut(name, "@")
	return name == "busybox"
}
