package snapshot

import (
	"errors"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// clocked is a recorder whose time is set by hand.
func clocked() (*Recorder, func(at float64)) {
	r := NewRecorder()
	now := r.since
	r.now = func() time.Time { return now }
	return r, func(at float64) { now = r.since.Add(time.Duration(at * float64(time.Second))) }
}

func podOf(jobSet string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: jobSet + "-worker-0-0-x", UID: "one", Labels: map[string]string{
		jobsetv1.JobSetNameKey: jobSet, jobsetv1.ReplicatedJobNameKey: "worker",
		batchv1.JobCompletionIndexAnnotation: "0", RestartAttemptLabel: "0",
	}}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

func states(sighting ObjectHistory) []string {
	var states []string
	for _, moment := range sighting.Transitions {
		states = append(states, moment.State)
	}
	return states
}

func TestAPodThatCameAndWentIsRemembered(t *testing.T) {
	t.Parallel()
	r, at := clocked()
	pod := podOf("big")
	r.Observe(pod)
	at(1)
	r.Observe(pod) // nothing new
	pod.Status.Phase = corev1.PodRunning
	pod.Status.PodIP = "10.244.0.9"
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	at(2)
	r.Observe(pod)
	pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	at(3)
	r.ObserveDeletion(pod)
	r.ObserveDeletion(pod) // a watch that lists anew may tell it twice

	seen := r.History().Ever("Pod", "big")
	if len(seen) != 1 {
		t.Fatalf("%d pods of big were seen, not 1", len(seen))
	}
	wanted := []string{"Seen", "Pending", "Running", "Ready", "Terminating", "Gone"}
	if got := states(seen[0]); !slices.Equal(got, wanted) {
		t.Errorf("states %v, not %v", got, wanted)
	}
	if seen[0].Address != "10.244.0.9" || seen[0].Role != "worker" || seen[0].Attempt != "0" {
		t.Errorf("the pod is remembered wrongly: %+v", seen[0])
	}
	if last := seen[0].Transitions[len(seen[0].Transitions)-1]; last.At != 3 {
		t.Errorf("gone at %v s, not 3", last.At)
	}
}

func TestAnOlderStateThatComesLaterIsNoNews(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	pod := podOf("train")
	pod.ResourceVersion = "10"
	older := pod.DeepCopy()
	r.Observe(pod)
	pod.ResourceVersion, pod.Status.Phase = "11", corev1.PodRunning
	r.Observe(pod)
	r.Observe(older)
	if seen, _ := r.History().Of("one"); !slices.Equal(states(seen), []string{"Seen", "Pending", "Running"}) {
		t.Errorf("states %v", states(seen))
	}
}

func TestTheAttemptIsThatOfFirstSight(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	pod := podOf("fragile")
	r.Observe(pod)
	pod.Labels[RestartAttemptLabel] = "1"
	r.Observe(pod)
	if seen, _ := r.History().Of("one"); seen.Attempt != "0" {
		t.Errorf("a relabelled pod is remembered as of attempt %s", seen.Attempt)
	}
}

func TestAJobIsRememberedComplete(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "eval-worker-0", UID: "job",
		Labels: map[string]string{jobsetv1.JobSetNameKey: "eval", jobsetv1.ReplicatedJobNameKey: "worker"}}}
	r.Observe(job)
	if seen, _ := r.History().Of("job"); seen.Reached(StateComplete) {
		t.Fatal("an active Job is remembered as Complete")
	}
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	r.Observe(job)
	r.ObserveDeletion(job)
	if seen, _ := r.History().Of("job"); !seen.Reached(StateComplete) {
		t.Error("a Job that completed and was deleted is not remembered as Complete")
	}
}

func TestSuspensionAndRestartsAreNewsOnlyWhenTheyChange(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	jobSet := &jobsetv1.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "js"}}
	r.Observe(jobSet)
	jobSet.Spec.Suspend = ptr.To(true)
	r.Observe(jobSet)
	jobSet.Spec.Suspend = ptr.To(false)
	r.Observe(jobSet)
	jobSet.Status.Restarts = 1
	r.Observe(jobSet)
	seen, _ := r.History().Of("js")
	wanted := []string{"Seen", "Suspended", "Resumed", "Restarts"}
	if got := states(seen); !slices.Equal(got, wanted) {
		t.Errorf("states %v, not %v", got, wanted)
	}
}

func TestAWorkloadBelongsToTheJobSetThatOwnsIt(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	workload := func(name, owner string, uid types.UID) *kueuev1.Workload {
		return &kueuev1.Workload{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid, OwnerReferences: []metav1.OwnerReference{
			{Kind: owner, Name: "train", Controller: ptr.To(true)}}}}
	}
	r.Observe(workload("of-the-jobset", "JobSet", "a"))
	r.Observe(workload("of-a-job", "Job", "b"))
	if seen := r.History().Ever("Workload", "train"); len(seen) != 1 || seen[0].Name != "of-the-jobset" {
		t.Errorf("Workloads of JobSet train: %+v", seen)
	}
}

func TestEveryReasonIsKept(t *testing.T) {
	t.Parallel()
	r, _ := clocked()
	workload := &kueuev1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w", UID: "w"}}
	for _, message := range []string{"first", "second", "second"} {
		workload.Status.Conditions = []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: "Pending", Message: message}}
		r.Observe(workload)
	}
	seen, _ := r.History().Of("w")
	if got := seen.Texts(stateNoQuota); !slices.Equal(got, []string{"Pending: first", "Pending: second"}) {
		t.Errorf("reasons %q", got)
	}
}

func TestAGapIsReported(t *testing.T) {
	t.Parallel()
	r, at := clocked()
	at(2)
	r.RecordGap(errors.New("too old resource version"))
	if gaps := r.History().Gaps; len(gaps) != 1 || gaps[0] != "+2.0s too old resource version" {
		t.Errorf("gaps %q", gaps)
	}
}

// A change is what a wait looks for: an object that is new, in another state or gone, of
// those that are noted; what a look shows once more is none.
func TestChanged(t *testing.T) {
	t.Parallel()
	recorder := NewRecorder("other")
	pod := func(jobSet, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: jobSet + "-pod", UID: types.UID(jobSet), ResourceVersion: version, Labels: map[string]string{jobsetv1.JobSetNameKey: jobSet}}}
	}
	for _, seen := range []struct {
		what    string
		note    func()
		changes bool
	}{
		{"nothing", func() {}, false},
		{"a new pod", func() { recorder.Observe(pod("mine", "1")) }, true},
		{"the same pod", func() { recorder.Observe(pod("mine", "1")) }, false},
		{"the pod, later", func() { recorder.Observe(pod("mine", "2")) }, true},
		{"an earlier state of it", func() { recorder.Observe(pod("mine", "1")) }, false},
		{"a pod of another JobSet", func() { recorder.Observe(pod("other", "5")) }, false},
		{"the pod is gone", func() { recorder.ObserveDeletion(pod("mine", "2")) }, true},
	} {
		seen.note()
		select {
		case <-recorder.Changed():
			if !seen.changes {
				t.Errorf("%s is a change", seen.what)
			}
		default:
			if seen.changes {
				t.Errorf("%s is no change", seen.what)
			}
		}
	}
}
