package ownership

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// After kubectl replace --force a JobSet of the same name is there, and the garbage
// collector has not yet deleted the Jobs and pods of the one before.
func TestWhatADeletedJobSetLeftGoesAndAnybodyElsesDoesNot(t *testing.T) {
	t.Parallel()
	meta := func(namespace, name, ownerKind string, owner types.UID) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}
		if ownerKind != "" {
			m.OwnerReferences = []metav1.OwnerReference{{Kind: ownerKind, Name: "train", UID: owner, Controller: ptr.To(true)}}
		}
		return m
	}
	w := inLab(t, interceptor.Funcs{},
		&jobsetv1.JobSet{ObjectMeta: meta("ml", "of-a-learner", "", "")},
		&batchv1.Job{ObjectMeta: meta("ml", "orphaned-job", "JobSet", "deleted")},
		&batchv1.Job{ObjectMeta: meta("ml", "learners-job", "JobSet", "of-a-learner")},
		&batchv1.Job{ObjectMeta: meta("ml", "bare-job", "", "")})
	going, others, err := SurveyGoing(t.Context(), w)
	if err != nil || len(others) != 1 {
		t.Fatalf("%v, %v", others, err)
	}
	for _, of := range []struct {
		pod  metav1.ObjectMeta
		goes bool
	}{
		{meta("ml", "orphan", "Job", "orphaned-job"), true},
		{meta("ml", "orphan-of-a-deleted-job", "Job", "deleted"), true},
		{meta("ml", "learners", "Job", "learners-job"), false},
		{meta("ml", "of-a-bare-job", "Job", "bare-job"), false},
		{meta("ml", "of-a-replicaset", "ReplicaSet", "unknown"), false},
		{meta("ml", "bare", "", ""), false},
		{meta("other", "of-another-namespace", "Job", "unknown"), false},
	} {
		if goes := going.Made(&corev1.Pod{ObjectMeta: of.pod}); goes != of.goes {
			t.Errorf("pod %s goes: %t", of.pod.Name, goes)
		}
	}
}
