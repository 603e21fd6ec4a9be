package grade

import (
	"fmt"
	"slices"
	"strings"

	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// What a step cannot be judged without: that nothing of it is seen would be taken for
// that there is none of it. The queue's own are needed only where something is queued.
var (
	neededByAll    = []string{"jobsets.jobset.x-k8s.io", "jobs.batch", "pods"}
	neededByQueued = []string{"workloads.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io"}
)

// readerFix is the fix for rights that a check lacks.
const readerFix = "kubectl apply -f fixtures/check/reader.yaml; it has the rights that a check needs"

// queues reports whether the step is about a JobSet that the lab text has in the queue.
func queues(step lab.Step) bool {
	return slices.ContainsFunc(step.JobSets, func(name string) bool {
		content, err := fixtures.Read("steps/" + name + ".yaml")
		return err == nil && strings.Contains(string(content), constants.QueueLabel)
	})
}

// forbiddenTo lists what this user may not read and the step cannot be judged without.
func forbiddenTo(step lab.Step, s *snapshot.Snapshot) []string {
	needed := neededByAll
	if queues(step) {
		needed = slices.Concat(needed, neededByQueued)
	}
	return slices.DeleteFunc(slices.Clone(s.Forbidden), func(resource string) bool { return !slices.Contains(needed, resource) })
}

// ungraded is the Grade of a step that could not be judged.
func ungraded(step lab.Step, lacks []string) Grade {
	return Grade{Step: step.Number, Name: step.Name, Title: step.Title, Code: preflight.FactUnreadable, Whose: OfLab, Cause: preflight.FactUnreadable,
		Text: snapshot.TextOf("이 단계는 채점하지 못했습니다. 채점하는 사용자에게 읽을 권한이 없습니다: %s.",
			"This step was not graded: the user of this check may not list %s.", text.List(lacks))}
}

// sayForbidden says once which rights the user of this check lacks.
func (g *Grading) sayForbidden(s *snapshot.Snapshot) {
	if len(s.Forbidden) > 0 {
		g.Notes = append(g.Notes, snapshot.TextOf("채점하는 사용자에게 읽을 권한이 없어서 보지 못한 것이 있습니다: %s. 필요한 권한은 fixtures/check/reader.yaml 에 있습니다.",
			"The user of this check may not list %s, and what depends on that was left out; fixtures/check/reader.yaml has the rights.", text.List(s.Forbidden)))
	}
}

// sayQueueMissing says once that the lab's queue is not there: whatever a learner does, what
// is queued is not let in.
func (g *Grading) sayQueueMissing(s *snapshot.Snapshot, pins fixtures.Pins) {
	var code snapshot.Code
	var what string
	switch {
	case slices.ContainsFunc(neededByQueued, func(resource string) bool { return slices.Contains(s.Forbidden, resource) }):
		return
	case !slices.ContainsFunc(s.LocalQueues, func(q kueuev1.LocalQueue) bool { return q.Name == pins.LocalQueue }):
		code, what = preflight.LocalQueueNotFound, fmt.Sprintf("LocalQueue %s/%s", pins.Namespace, pins.LocalQueue)
	case s.ClusterQueue == nil:
		code, what = preflight.ClusterQueueNotFound, "ClusterQueue "+pins.ClusterQueue
	default:
		return
	}
	g.Notes = append(g.Notes, snapshot.TextOf("실습 환경에 %s 가 없어서 큐에 넣은 것은 입장하지 못합니다. kubectl apply -f fixtures/lab/lab.yaml 로 만들 수 있습니다. 이 클러스터가 그 실습 환경이 맞는지도 보십시오.",
		"The lab has no %s, so nothing that is queued is let in. kubectl apply -f fixtures/lab/lab.yaml makes it, if this cluster is the lab that was meant.", what))
	for i, step := range g.judged {
		if grade := &g.Steps[i]; !grade.Passed && queues(step) && slices.Contains(broughtAbout, grade.Code) {
			grade.Whose, grade.Cause = OfLab, code
		}
	}
}
