package install

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"gsb.test/jobset-e2e/provision/poll"
)

// Right after a restart the API server still tells how everything ran before it.
func TestOnlyWhatWasStartedSinceTheRestartRunsAgain(t *testing.T) {
	t.Parallel()
	restart := time.Date(2026, 1, 1, 12, 0, 0, 500_000_000, time.UTC)
	pod := func(ready corev1.ConditionStatus, started ...time.Time) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml"}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		for _, at := range started {
			state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}}
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{State: state})
		}
		return p
	}
	before, after := restart.Add(-2*time.Second), restart.Add(2*time.Second)
	leaving := pod(corev1.ConditionTrue, after)
	leaving.DeletionTimestamp = &metav1.Time{Time: after}
	waiting := pod(corev1.ConditionTrue, after)
	waiting.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	for name, c := range map[string]struct {
		pod corev1.Pod
		run map[string]int
	}{
		"not told anew":           {pod(corev1.ConditionTrue, before), map[string]int{}},
		"one container of two":    {pod(corev1.ConditionTrue, after, before), map[string]int{}},
		"started and not Ready":   {pod(corev1.ConditionFalse, after), map[string]int{}},
		"being deleted":           {leaving, map[string]int{}},
		"in back-off":             {waiting, map[string]int{}},
		"started":                 {pod(corev1.ConditionTrue, after, after), map[string]int{"ml": 1}},
		"started the same second": {pod(corev1.ConditionTrue, restart.Truncate(time.Second)), map[string]int{"ml": 1}},
	} {
		if run := runningSince([]corev1.Pod{c.pod}, restart); !maps.Equal(run, c.run) {
			t.Errorf("%s: there run %v, not %v", name, run, c.run)
		}
	}
}

func TestAnAPIServerThatHasJustStartedIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := labOf(t)
	c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("no rights are known yet"))
		},
	})
	var pending poll.Pending
	if err := c.RunsAgain(t.Context(), map[string]int{"ml": 3}, time.Now()); !errors.As(err, &pending) {
		t.Errorf("the wait would end with %v", err)
	}
	if err := labOf(t).RunsAgain(t.Context(), map[string]int{}, time.Now()); err != nil {
		t.Error(err)
	}
}
