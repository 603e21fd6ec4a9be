package snapshot

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var wentDown = time.Date(2026, 12, 1, 5, 55, 25, 0, time.UTC)

// ended is a container that ended that many seconds after the node went down.
func ended(seconds int, code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason,
		FinishedAt: metav1.NewTime(wentDown.Add(time.Duration(seconds) * time.Second))}}
}

func running(seconds int) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(wentDown.Add(time.Duration(seconds) * time.Second))}}
}

func podWith(now, before corev1.ContainerState) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: now, LastTerminationState: before}}}}
}

func TestANodeThatRestartedIsSeenByItsContainers(t *testing.T) {
	t.Parallel()
	none := corev1.ContainerState{}
	again := podWith(running(10), ended(0, 255, "Unknown"))
	replaced := podWith(running(140), none)
	for name, lab := range map[string]struct {
		pods []corev1.Pod
		is   bool
	}{
		"started again":              {[]corev1.Pod{again, again}, true},
		"dead beside replacements":   {[]corev1.Pod{podWith(ended(0, 255, "Unknown"), none), replaced}, true},
		"one that had ended before":  {[]corev1.Pod{again, podWith(ended(-60, 0, "Completed"), none)}, true},
		"down for longer":            {[]corev1.Pod{podWith(running(7200), ended(0, 255, "Unknown")), replaced}, true},
		"nothing happened":           {[]corev1.Pod{podWith(running(-60), none)}, false},
		"no pod":                     {nil, false},
		"nobody of then is left":     {[]corev1.Pod{replaced}, false},
		"one alone lost its shim":    {[]corev1.Pod{again, podWith(running(-60), none)}, false},
		"its program exits with 255": {[]corev1.Pod{podWith(running(10), ended(0, 255, "Error"))}, false},
		"all exit with 1 at once":    {[]corev1.Pod{podWith(running(2), ended(0, 1, "Error")), podWith(running(2), ended(0, 1, "Error"))}, false},
		"killed for memory":          {[]corev1.Pod{podWith(running(2), ended(0, 137, "OOMKilled"))}, false},
	} {
		s := &Snapshot{Pods: lab.pods}
		at, restarted := s.NodeRestarted()
		if restarted != lab.is || restarted && !at.Equal(wentDown) {
			t.Errorf("%s: restarted %v, at %s", name, restarted, at)
		}
	}
	s := &Snapshot{Pods: []corev1.Pod{again, replaced}}
	if !s.WentDownWithNode(&s.Pods[0]) || s.WentDownWithNode(&s.Pods[1]) {
		t.Error("it is not told which pod went down")
	}
	twice := &Snapshot{Pods: []corev1.Pod{podWith(running(70), ended(60, 255, "Unknown")), podWith(ended(0, 255, "Unknown"), none)}}
	if at, _ := twice.NodeRestarted(); !at.Equal(wentDown.Add(time.Minute)) {
		t.Errorf("of two restarts the last is told as of %s", at)
	}
}
