package snapshot

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestTrimLeavesWhatJudgementsAskFor(t *testing.T) {
	t.Parallel()
	s := &Snapshot{
		Jobs: []batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "job", Labels: map[string]string{RestartAttemptLabel: "1"}}}},
		Pods: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: map[string]string{RestartAttemptLabel: "1"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}, Annotations: map[string]string{RestartAttemptLabel: "again"}},
			Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "kube-api-access"}}, Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}},
	}
	s.Trim()
	content, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"managedFields", "kubelet", "again", "kube-api-access"} {
		if strings.Contains(string(content), gone) {
			t.Errorf("%s is still there:\n%s", gone, content)
		}
	}
	if s.Pods[0].Labels[RestartAttemptLabel] != "1" || s.Jobs[0].Labels[RestartAttemptLabel] != "1" || s.Pods[0].Spec.Containers[0].Image != "busybox" {
		t.Error("too much was taken")
	}
}

func TestEventsOnWhatWasNeverSeenAreLeftOut(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	event := func(uid, on string) *corev1.Event {
		e := &corev1.Event{Reason: "SuccessfulCreate", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: on}}
		e.UID, e.InvolvedObject.UID = types.UID("event-"+uid), types.UID(uid)
		return e
	}
	r.Observe(event("one", "known"))
	r.Observe(event("two", "of-an-earlier-run"))
	r.Observe(podOf("big"))
	if events := r.Events(); len(events) != 1 || events[0].Object != "Pod/known" {
		t.Errorf("events %+v", events)
	}
}
