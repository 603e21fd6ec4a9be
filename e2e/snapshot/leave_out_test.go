package snapshot

import (
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

func TestWhatIsLeftOutLeavesTheRest(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	yes := true
	of := func(name, jobSet string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Labels: map[string]string{jobsetv1.JobSetNameKey: jobSet}}
	}
	ownedBy := func(name, kind, owner string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: owner, Controller: &yes}}}
	}
	s := &Snapshot{
		JobSets:   []jobsetv1.JobSet{{ObjectMeta: metav1.ObjectMeta{Name: "hello"}}, {ObjectMeta: metav1.ObjectMeta{Name: "train"}}},
		Jobs:      []batchv1.Job{{ObjectMeta: of("hello-leader-0", "hello")}, {ObjectMeta: of("train-leader-0", "train")}},
		Pods:      []corev1.Pod{{ObjectMeta: of("hello-leader-0-0", "hello")}, {ObjectMeta: metav1.ObjectMeta{Name: "anybody"}}},
		Workloads: []kueuev1.Workload{{ObjectMeta: ownedBy("jobset-train", "JobSet", "train")}, {ObjectMeta: ownedBy("jobset-hello", "JobSet", "hello")}},
		Services:  []corev1.Service{{ObjectMeta: ownedBy("hello", "JobSet", "hello")}},
	}
	s.LeaveOut([]string{"hello"})
	g.Expect(s.JobSets).To(HaveLen(1))
	g.Expect(s.Jobs).To(HaveLen(1))
	g.Expect(s.Pods).To(ConsistOf(HaveField("Name", "anybody")))
	g.Expect(s.Workloads).To(ConsistOf(HaveField("Name", "jobset-train")))
	g.Expect(s.Services).To(BeEmpty())

	r := NewRecorder("hello")
	r.Observe(&batchv1.Job{ObjectMeta: of("hello-leader-0", "hello")})
	g.Expect(r.History().Objects).To(BeEmpty(), "the history leaves out the same")
}
