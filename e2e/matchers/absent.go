package matchers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// MissingJobSet refuses a JobSet that is not there, and says where one of its name is.
func MissingJobSet(j snapshot.JobSet) *Mismatch {
	if j.Live != nil {
		return nil
	}
	var present []string
	for _, other := range j.Snapshot.JobSets {
		present = append(present, other.Name)
	}
	for _, other := range j.Snapshot.Elsewhere {
		if namespace, name, _ := strings.Cut(other, "/"); name == j.Name {
			return NewMismatch(JobSetInOtherNamespace, snapshot.TextOf("이름이 %s 인 JobSet 이 %s 네임스페이스에 있는데, %s 네임스페이스에 있어야 합니다.",
				"JobSet %s is in namespace %s; the lab asks for it in %s.", j.Name, namespace, j.Snapshot.Namespace)).
				Row("namespace", j.Snapshot.Namespace, namespace)
		}
	}
	if completedAndGone(j) {
		return NewMismatch(JobSetGone, snapshot.TextOf("JobSet %s 은(는) 끝난(Completed) 뒤 지워져서 볼 수 없는데, 채점하는 동안 남아 있어야 합니다.",
			"JobSet %s has completed and is gone; it must stay to be looked at.", j.Name)).Row("JobSet "+j.Name, "there, Completed", "gone")
	}
	return NewMismatch(JobSetNotFound, snapshot.TextOf("이름이 %s 인 JobSet 이 %s 네임스페이스에 없습니다.", "There is no JobSet %s in namespace %s.", j.Name, j.Snapshot.Namespace)).
		Row("JobSets in "+j.Snapshot.Namespace, j.Name, text.List(present))
}

// completedAndGone reports whether the last that was said of a JobSet which is not there
// is that it completed: a ttlSecondsAfterFinished took it away.
func completedAndGone(j snapshot.JobSet) bool {
	for _, event := range slices.Backward(j.Snapshot.Events) {
		if event.Object == "JobSet/"+j.Name {
			return event.Reason == "AllJobsCompleted" || strings.Contains(event.Message, "completed successfully")
		}
	}
	return false
}

func missingRole(r snapshot.ReplicatedJob) *Mismatch {
	if refusal := MissingJobSet(r.Of); refusal != nil {
		return refusal
	}
	if r.Fields != nil {
		return nil
	}
	roles := map[string]bool{}
	for _, role := range r.Of.Live.Spec.ReplicatedJobs {
		roles[role.Name] = true
	}
	return NewMismatch(RoleNotFound, snapshot.TextOf("JobSet %s 에 이름이 %s 인 역할이 없습니다.", "JobSet %s has no role named %s.", r.Of.Name, r.Name)).
		Row("replicatedJobs", r.Name, text.List(slices.Sorted(maps.Keys(roles))))
}

// missingFile refuses a file that is not there, cannot be read or holds nothing.
func missingFile(f snapshot.File) *Mismatch {
	switch {
	case f.Unread != nil:
		return NewMismatch(FileUnreadable, *f.Unread).Row(f.Name, "a text file", "not one")
	case !f.Written:
		return NewMismatch(FileNotFound, snapshot.TextOf("작업 디렉터리에 %s 파일이 없습니다.", "There is no file %s in the work directory.", f.Name)).Row(f.Name, "written", "not there")
	case strings.TrimSpace(f.Text) == "":
		return NewMismatch(FileEmpty, snapshot.TextOf("%s 파일이 비어 있습니다.", "The file %s is empty.", f.Name)).Row(f.Name, "written", "empty")
	}
	return nil
}

func MissingPod(p snapshot.Pod) *Mismatch {
	if r := MissingJobSet(p.Of); r != nil {
		return r
	}
	if p.Live != nil {
		return nil
	}
	return NewMismatch(PodNotFound, snapshot.TextOf("JobSet %s 에 완료 인덱스가 %[3]d 인 %[2]s 파드가 없습니다.", "JobSet %s has no %s pod of completion index %d.",
		p.Of.Name, p.Role, p.Index)).
		Row("pods", fmt.Sprintf("%s-0-%d", p.Role, p.Index), "not there")
}

// missingWorkload refuses a Workload that is not there, and says whether Kueue gave one
// to the JobSet's Jobs instead.
func missingWorkload(w snapshot.Workload) *Mismatch {
	if r := MissingJobSet(w.Of); r != nil {
		return r
	}
	if w.Live != nil {
		return nil
	}
	jobs := map[string]bool{}
	for _, job := range w.Of.Jobs() {
		jobs["Job/"+job.Name] = true
	}
	var lesser []string
	for _, seen := range w.Of.Snapshot.Seen.Objects {
		if seen.Kind == "Workload" && jobs[seen.Owner] {
			lesser = append(lesser, seen.Owner)
		}
	}
	refusal := NewMismatch(WorkloadNotFound, snapshot.TextOf("JobSet %s 에는 Workload 가 없는데, Kueue 가 Workload 하나로 다루어야 합니다.",
		"JobSet %s has no Workload; Kueue should know it as one Workload.", w.Of.Name))
	if len(lesser) > 0 {
		refusal = NewMismatch(WorkloadPerJob, snapshot.TextOf("JobSet %s 에는 Workload 가 없고 Job 마다 따로 Workload 가 있는데, 한 덩어리로 입장해야 합니다.",
			"JobSet %s has no Workload and its Jobs have one each; the lab wants it admitted as one.", w.Of.Name)).
			Row("Workloads owned by its Jobs", "none", strings.Join(lesser, ", "))
	}
	return refusal.Row("Workloads owned by "+w.Of.Name, 1, 0)
}
