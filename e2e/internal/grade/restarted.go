package grade

import (
	"slices"
	"strconv"
	"strings"

	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// NodeRestarted is the cause of a step whose file was right before the node restarted.
const NodeRestarted snapshot.Code = "NodeRestarted"

// outdatedByRestart are the codes of files that tell of pods and counts that a restart of
// the node changed: the files were right, and are to be written again.
var outdatedByRestart = []snapshot.Code{matchers.LookupOtherAddress, matchers.ValueOutdated}

// sayRestarted says once that the lab's node restarted, and which steps that undid.
func (g *Grading) sayRestarted(s *snapshot.Snapshot) {
	at, restarted := s.NodeRestarted()
	if !restarted {
		return
	}
	var again []string
	for i := range g.Steps {
		if slices.Contains(outdatedByRestart, g.Steps[i].Code) {
			g.Steps[i].Whose, g.Steps[i].Cause = OfLab, NodeRestarted
			again = append(again, strconv.Itoa(g.Steps[i].Step))
		}
	}
	when := at.UTC().Format("2006-01-02 15:04:05 UTC")
	note := snapshot.TextOf("실습 환경의 노드가 %s 에 다시 시작되어, 그때 떠 있던 파드가 모두 다시 시작되거나 새로 만들어졌습니다.",
		"The lab's node restarted at %s, so every pod that ran then was started again or replaced.", when)
	if len(again) > 0 {
		then := snapshot.TextOf(" 그 전에 적은 파드 IP 나 재시작 횟수는 지금과 다릅니다. 다시 할 단계: %s.",
			" IPs of pods and counts of restarts that were written before have changed. Steps to do again: %s.", strings.Join(again, ", "))
		note.KO, note.EN = note.KO+" "+strings.TrimSpace(then.KO), note.EN+" "+strings.TrimSpace(then.EN)
	}
	g.Notes = append(g.Notes, note)
}
