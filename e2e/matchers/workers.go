package matchers

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

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
// a file appears. A command that only waits cannot, whatever the image, nor one of busybox
// that is written out and knows neither the file nor its folder. What a program of one's
// own does, or a script that lies elsewhere, is left open.
func EndOnFile(file string) Matcher[snapshot.ReplicatedJob] {
	return func(r snapshot.ReplicatedJob) *Mismatch {
		if refusal := missingRole(r); refusal != nil {
			return refusal
		}
		pod := r.Fields.Template.Spec.Template.Spec
		var commands []string
		for _, container := range pod.Containers { // an init container, and a sidecar that ends, fail no pod that runs
			if canEndOn(file, container, len(pod.Volumes) > 0) {
				return nil
			}
			commands = append(commands, strings.Join(slices.Concat(container.Command, container.Args), " "))
		}
		return NewMismatch(WorkerCannotFail, snapshot.TextOf("JobSet %s 의 %s 컨테이너는 %s 파일을 보지 않아서, 그 파일이 생겨도 실패하지 않습니다.",
			"JobSet %s has a %s container that does not look for %s, so it does not fail when that file appears.", r.Of.Name, r.Name, file)).
			Row("command of "+r.Name, "one that looks for "+file, strings.Join(commands, "; "))
	}
}

func canEndOn(file string, container corev1.Container, hasVolumes bool) bool {
	command := strings.Join(slices.Concat(container.Command, container.Args), " ")
	if command != "" && onlyWaits(command) {
		return false
	}
	for _, variable := range container.Env {
		command += " " + variable.Value
		hasVolumes = hasVolumes || variable.ValueFrom != nil
	}
	return container.Command == nil && container.Args == nil || knowsOf(file).MatchString(command) ||
		hasVolumes || len(container.EnvFrom) > 0 || !isBusybox(container.Image)
}

// knowsOf finds a file's name as a word of its own, for its folder may stand in a variable,
// or its folder, where that is listed or watched as a whole: /tmp, /tmp/*.
func knowsOf(file string) *regexp.Regexp {
	folder, name := regexp.QuoteMeta(path.Dir(file)), regexp.QuoteMeta(path.Base(file))
	return regexp.MustCompile(`(^|[^\w-])` + name + `($|[^\w.-])|` + folder + `/?($|[^\w/.-])|` + folder + `/\w*[*?\[]`)
}

var (
	said = regexp.MustCompile(`\b(echo|printf)\b[^;&|\n]*`)
	// waiting are the words of a shell, and of its programs, that look at nothing.
	waiting   = strings.Fields("sh bash ash dash c ec exec sleep infinity inf tail f dev null while until true do done wait pause bin usr env")
	aDuration = regexp.MustCompile(`^[0-9.]+[smhd]?$`)
)

// onlyWaits tells a command that sleeps on, whatever it says meanwhile.
func onlyWaits(command string) bool {
	words := strings.FieldsFunc(said.ReplaceAllString(command, ""), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' })
	return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(waiting, word) && !aDuration.MatchString(word) })
}

func isBusybox(image string) bool {
	name, _, _ := strings.Cut(path.Base(image), ":")
	name, _, _ = strings.Cut(name, "@")
	return name == "busybox"
}
