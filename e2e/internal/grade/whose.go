package grade

import (
	"slices"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Whose trouble it is that a step is not passed.
const (
	OfLearner = "learner"
	OfLab     = "lab"
)

// hadItsTime is how old what does not go on must be, so that one look may say that it
// does not by itself.
const hadItsTime = time.Minute

// broughtAbout are the codes of what the lab can bring about: something is not there yet,
// or does not run. What a manifest or a file says, its learner wrote.
var broughtAbout = []snapshot.Code{
	matchers.DeviceMissing, matchers.FileEmpty, matchers.FileNotFound, matchers.JobNotCompleted, matchers.JobSetFailed, matchers.JobSetNotFound,
	matchers.JobSetSuspended, matchers.LookupNoAnswer, matchers.NoPod, matchers.NotAdmitted, matchers.NotCompleted, matchers.NotRestarted,
	matchers.PodCountWrong, matchers.PodHasNoIP, matchers.PodNotFound, matchers.PodOfOtherAttempt, matchers.PodsNotRunning, matchers.QuotaNotAllUsed,
	matchers.QuotaNotRefused, matchers.QuotaUndecided, matchers.RankEmpty, matchers.ReasonNotInFile, matchers.ReasonNotYetGiven,
	matchers.RunningCountWrong, matchers.TooManyPods, matchers.WaitsForOtherReason, matchers.WorkloadNotFound,
}

// labsFault finds what of the lab keeps a step from being passed; its Code is empty where
// nothing does, as far as one look can tell.
func labsFault(step lab.Step, s *snapshot.Snapshot, missing snapshot.Code) blockers.Blocker {
	if !slices.Contains(broughtAbout, missing) {
		return blockers.Blocker{}
	}
	for _, name := range step.Files {
		if blockers.Unanswered(s.File(name).Text, nil) {
			return blockers.Blocker{Code: blockers.BlockedDNS, Message: "no DNS server answered the lookup in " + name}
		}
	}
	for _, name := range step.JobSets {
		if s.JobSet(name).Live != nil {
			held := blockers.Find(s, []string{name})
			if held.Code == blockers.BlockedJobSetController || held.Code == blockers.BlockedKueueController {
				return held
			}
			if held.Code != "" && !held.Learner && !held.Since.IsZero() && s.Taken.Sub(held.Since) > hadItsTime {
				return held
			}
			continue
		}
		// Nobody can make a JobSet while a webhook of either controller is not served.
		if held := blockers.ControllerAway(s); held.Code != "" {
			return held
		}
	}
	return blockers.Blocker{}
}

// faultText says to a learner that the lab is at fault, in the words of who reports it.
func faultText(held blockers.Blocker) snapshot.Text {
	said, known := koreanOf[held.Code]
	if !known {
		said = "클러스터가 더 나아가지 못합니다"
	}
	return snapshot.TextOf("이 단계를 막는 것은 학습자의 작업이 아니라 실습 환경입니다. %[1]s(%[2]s).",
		"What holds this step up is the lab and not your work (%[3]s): %[2]s.", said, held.Message, string(held.Code))
}

// koreanOf says what each kind of blocker is. The message beside it is the controllers' own.
var koreanOf = map[snapshot.Code]string{
	blockers.BlockedDNS:              "DNS 서버가 답하지 않습니다",
	blockers.BlockedName:             "DNS 서버가 클러스터의 이름을 모릅니다",
	blockers.BlockedExec:             "파드 안에서 명령을 실행하지 못하게 합니다",
	blockers.BlockedJobSetController: "JobSet 컨트롤러가 일하지 않습니다",
	blockers.BlockedKueueController:  "Kueue 컨트롤러가 일하지 않습니다",
	blockers.BlockedNode:             "노드가 Ready 가 아닙니다",
	blockers.BlockedQueue:            "큐가 아무것도 입장시키지 않습니다",
	blockers.BlockedCoverage:         "ClusterQueue 가 다루지 않는 자원을 네임스페이스가 더했습니다",
	blockers.BlockedWorkload:         "Workload 가 비활성화되었습니다",
	blockers.BlockedCheck:            "AdmissionCheck 가 끝나지 않았습니다",
	blockers.BlockedKueue:            "쿼터가 실습이 약속한 만큼 남아 있지 않습니다",
	blockers.BlockedCreation:         "API 서버가 파드를 만들지 못하게 합니다",
	blockers.BlockedScheduler:        "파드를 둘 노드가 없습니다",
	blockers.BlockedStart:            "노드가 파드를 띄우지 못합니다",
	blockers.BlockedDisruption:       "클러스터가 파드를 치웠습니다",
	blockers.BlockedNoJobs:           "JobSet 컨트롤러가 Job 을 만들지 못합니다",
	blockers.SilentScheduler:         "스케줄러가 일하지 않습니다",
	blockers.SilentKubelet:           "노드의 kubelet 이 일하지 않습니다",
	blockers.SilentJobController:     "kube-controller-manager 가 일하지 않습니다",
	blockers.SilentJobSetController:  "JobSet 컨트롤러가 반응하지 않습니다",
	blockers.SilentKueue:             "Kueue 가 반응하지 않습니다",
}
