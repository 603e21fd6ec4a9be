package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

func TestADeletionThatTheWatchMissedIsTakenFromItsWrapping(t *testing.T) {
	t.Parallel()
	r := snapshot.NewRecorder()
	handler := handler(r)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "big-worker-0-0-x", UID: "one"}}
	handler.OnAdd(pod, false)
	handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "ml/big", Obj: pod})
	if seen, ok := r.History().Of("one"); !ok || !seen.Reached(snapshot.StateGone) {
		t.Errorf("the pod is remembered as %+v", seen)
	}
}
