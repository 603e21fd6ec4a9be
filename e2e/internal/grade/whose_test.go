package grade

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// trainStep wants one pod of train to run, and a file.
var trainStep = lab.Step{Number: 6, Name: "train", JobSets: []string{"train"}, Files: []string{"dns.txt"},
	Check: func(c *matchers.Check, s *snapshot.Snapshot) {
		matchers.Expect(c, s.JobSet("train"), matchers.HaveRunningPods(1))
		matchers.Expect(c, s.File("dns.txt"), matchers.AnswerWithAddressOf(s.JobSet("train").PodAt("worker", 0)))
	}}

// waitingFor is a JobSet whose only pod has been on its way for that long, run by that image.
func waitingFor(age time.Duration, image string) *snapshot.Snapshot {
	s := labtest.OnItsWayJobSet()
	made := metav1.NewTime(s.Taken.Add(-age))
	s.JobSets[0].CreationTimestamp, s.Jobs[0].CreationTimestamp, s.Pods[0].CreationTimestamp = made, made, made
	s.Pods[0].Spec = corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Image: image, Command: []string{"sleep", "9"}}}}
	s.Pods[0].Status.StartTime = &made
	return s
}

func pull(s *snapshot.Snapshot) {
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
}

func TestWhoseTroubleItIsIsSaid(t *testing.T) {
	t.Parallel()
	const lab, other = "busybox:1.35.0", "busybox:1.99"
	none := func(*snapshot.Snapshot) {}
	for name, work := range map[string]struct {
		age    time.Duration
		image  string
		change func(s *snapshot.Snapshot)
		whose  string
		cause  snapshot.Code
	}{
		"on its way":                 {5 * time.Minute, lab, none, OfLearner, ""},
		"the lab's image is gone":    {5 * time.Minute, lab, pull, OfLab, blockers.BlockedStart},
		"a moment ago":               {10 * time.Second, lab, pull, OfLearner, ""},
		"an image that there is not": {5 * time.Minute, other, pull, OfLearner, ""},
		"no scheduler":               {5 * time.Minute, lab, func(s *snapshot.Snapshot) { s.Pods[0].Spec.NodeName, s.Pods[0].Status.Conditions = "", nil }, OfLab, blockers.SilentScheduler},
		"the learner's scheduler": {5 * time.Minute, lab, func(s *snapshot.Snapshot) {
			s.Pods[0].Spec.NodeName, s.Pods[0].Spec.SchedulerName, s.Pods[0].Status.Conditions = "", "x", nil
		}, OfLearner, ""},
		"the node is not Ready":            {5 * time.Minute, lab, func(s *snapshot.Snapshot) { s.Nodes = []snapshot.Node{{Name: "n", NotReady: "stopped"}} }, OfLab, blockers.BlockedNode},
		"nothing was made, and Kueue gone": {0, lab, func(s *snapshot.Snapshot) { s.JobSets = nil; labtest.TakeAway(s, 1, snapshot.ScaledToNone) }, OfLab, blockers.BlockedKueueController},
		"nothing was made":                 {0, lab, func(s *snapshot.Snapshot) { s.JobSets = nil }, OfLearner, ""},
		"all runs, and no file": {5 * time.Minute, lab, func(s *snapshot.Snapshot) {
			s.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		}, OfLearner, ""},
		"a lookup that nobody answered": {5 * time.Minute, lab, func(s *snapshot.Snapshot) {
			s.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}, PodIP: "10.244.0.9"}
			s.Pods[0].Labels["jobset.sigs.k8s.io/replicatedjob-name"], s.Pods[0].Labels["batch.kubernetes.io/job-completion-index"] = "worker", "0"
			s.Files = map[string]string{"dns.txt": ";; connection timed out; no servers could be reached\n"}
		}, OfLab, blockers.BlockedDNS},
	} {
		s := waitingFor(work.age, work.image)
		work.change(s)
		grade := GradeStep(trainStep, s)
		if grade.Passed || grade.Whose != work.whose || grade.Cause != work.cause {
			t.Errorf("%s: %+v", name, grade)
		}
		if said := len(grade.Notes) > 0 && strings.Contains(grade.Notes[0].EN, "the lab and not your work") && strings.Contains(grade.Notes[0].KO, "실습 환경"); said != (work.whose == OfLab) {
			t.Errorf("%s: the notes are %v", name, grade.Notes)
		}
	}
}

// Every blocker that can be the lab's has its Korean words.
func TestEveryCauseOfTheLabHasKoreanWords(t *testing.T) {
	t.Parallel()
	for code, words := range koreanOf {
		held := faultText(blockers.Blocker{Code: code, Message: "message"})
		if words == "" || !strings.HasSuffix(held.KO, ").") || !strings.HasSuffix(held.EN, ": message.") {
			t.Errorf("%s: %+v", code, held)
		}
	}
}

func TestARestartOfTheNodeIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := labtest.OnItsWayJobSet()
	down := metav1.NewTime(s.Taken.Add(-10 * time.Minute))
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown", FinishedAt: down}}}}
	step := func(number int, code snapshot.Code) lab.Step {
		return lab.Step{Number: number, Check: func(c *matchers.Check, _ *snapshot.Snapshot) {
			if code != "" {
				c.Mismatches = append(c.Mismatches, &matchers.Mismatch{Code: code, Text: snapshot.Text{KO: "x.", EN: "x."}})
			}
		}}
	}
	grading := GradeAll([]lab.Step{step(1, ""), step(2, matchers.LookupOtherAddress), step(3, matchers.FileNotFound), step(4, matchers.ValueOutdated)}, s)
	if len(grading.Notes) != 1 || !strings.HasSuffix(grading.Notes[0].EN, "Steps to do again: 2, 4.") || !strings.HasSuffix(grading.Notes[0].KO, "다시 할 단계: 2, 4.") {
		t.Fatalf("the notes are %v", grading.Notes)
	}
	for i, cause := range []snapshot.Code{"", NodeRestarted, "", NodeRestarted} {
		if grading.Steps[i].Cause != cause {
			t.Errorf("step %d has cause %q", i+1, grading.Steps[i].Cause)
		}
	}
	if text := grading.String(); strings.Count(text, "node restarted") != 1 || strings.Count(text, "다시 시작되어") != 1 {
		t.Errorf("it says %s", text)
	}
	s.Pods[0].Status.ContainerStatuses = nil
	if grading = GradeAll([]lab.Step{step(2, matchers.LookupOtherAddress)}, s); len(grading.Notes) != 0 || grading.Steps[0].Whose != OfLearner {
		t.Errorf("no restart, and it says %+v", grading)
	}
}
