package snapshot

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func TestARecordingLeavesOutWhatNobodyAsksFor(t *testing.T) {
	t.Parallel()
	noise := metav1.ObjectMeta{Name: "hello-leader-0", UID: "one", ResourceVersion: "noise-1", GenerateName: "noise-2", Finalizers: []string{"noise-3"},
		Labels: map[string]string{"job-name": "noise-4", RestartAttemptLabel: "1"}}
	s := &Snapshot{
		Jobs: []batchv1.Job{{ObjectMeta: noise, Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](6),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"noise-5": ""}}}, Status: batchv1.JobStatus{Failed: 1}}},
		Pods: []corev1.Pod{{ObjectMeta: noise,
			Spec: corev1.PodSpec{NodeName: "node", SchedulerName: "noise-6", Containers: []corev1.Container{{Name: "main", Image: "busybox", TerminationMessagePath: "noise-7"}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, HostIP: "noise-8",
				Conditions:        []corev1.PodCondition{{Type: "noise-9"}, {Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no room"}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "main", RestartCount: 3, ImageID: "noise-10", ContainerID: "noise-11"}}}}},
		Workloads: []kueuev1.Workload{{ObjectMeta: noise, Spec: kueuev1.WorkloadSpec{PodSets: []kueuev1.PodSet{{Name: "leader", Count: 1,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Hostname: "noise-12"}}}}}}},
		Services: []corev1.Service{{ObjectMeta: noise, Spec: corev1.ServiceSpec{ClusterIP: "None", SessionAffinity: "noise-13"}}},
		Events: []Event{{Type: "Normal", Object: "Pod/hello-leader-0-0-x", Message: "noise-14"}, {Type: "Warning", Object: "Pod/hello-leader-0-0-x", Message: "back-off"},
			{Type: "Normal", Object: "Job/hello-leader-0", Message: "Created pod"}},
	}
	recording, err := s.Recording()
	if err != nil {
		t.Fatal(err)
	}
	content, err := recording.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), "noise") {
		t.Errorf("noise is left:\n%s", content)
	}
	for _, kept := range []string{"uid: one", RestartAttemptLabel, "backoffLimit: 6", "failed: 1", "image: busybox", "nodeName: node", "no room",
		"restartCount: 3", "count: 1", "clusterIP: None", "back-off", "Created pod"} {
		if !strings.Contains(string(content), kept) {
			t.Errorf("%q is gone:\n%s", kept, content)
		}
	}
	if s.Pods[0].Status.HostIP == "" {
		t.Error("the snapshot itself was changed")
	}
}
