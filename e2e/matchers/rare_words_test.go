package matchers

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// placed is a running pod of JobSet js at a role and a completion index.
func placed(name, role, index string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{jobsetv1.JobSetNameKey: "js", jobsetv1.ReplicatedJobNameKey: role,
			jobsetv1.JobIndexKey: "0", batchv1.JobCompletionIndexAnnotation: index},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "js-worker-0", UID: "job", Controller: ptr.To(true)}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

// two is a lab with JobSet js of one role, worker, of two pods.
func two(pods ...corev1.Pod) *snapshot.Snapshot {
	role := jobsetv1.ReplicatedJob{Name: "worker", Replicas: 1}
	role.Template.Spec.Parallelism, role.Template.Spec.Completions = ptr.To[int32](2), ptr.To[int32](2)
	js := jobsetv1.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "js", UID: "js"}, Spec: jobsetv1.JobSetSpec{ReplicatedJobs: []jobsetv1.ReplicatedJob{role}}}
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "js-worker-0", UID: "job", Labels: map[string]string{jobsetv1.JobSetNameKey: "js"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "JobSet", Name: "js", UID: "js", Controller: ptr.To(true)}}}}
	return &snapshot.Snapshot{Namespace: "ml", GPUResource: "nvidia.com/gpu", JobSets: []jobsetv1.JobSet{js}, Jobs: []batchv1.Job{job}, Pods: pods,
		Files: map[string]string{"big.txt": "reason", "twice.txt": "a=1\na=2\n"}}
}

// What a learner is told where no variation of the solved lab leads.
func TestRareWords(t *testing.T) {
	t.Parallel()
	w0, w1 := placed("w0", "worker", "0"), placed("w1", "worker", "1")
	both := two(w0, w1)
	both.Devices = map[string]string{"w0": "gpu-0,gpu-1"}
	service := two(w0)
	service.Pods[0].Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.5"}}
	service.Services = []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "dns"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10"}}}
	byPod := two()
	byPod.JobSets[0].Spec.ReplicatedJobs[0].Template.Spec.Template.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "lq"}
	owned := two()
	owned.Jobs = []batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "js-worker-0", Labels: map[string]string{jobsetv1.JobSetNameKey: "js"}}}}
	owned.Seen.Objects = []snapshot.ObjectHistory{{Kind: "Workload", Name: "job-js", Owner: "Job/js-worker-0"}}
	unjudged := two()
	unjudged.Workloads = []kueuev1.Workload{{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
		{Kind: "JobSet", UID: "js", Controller: ptr.To(true)}}}}}

	for _, rare := range []struct {
		refusal *Mismatch
		ko, en  string
	}{
		{HaveBackoffLimit(0)(both.JobSet("js").ReplicatedJob("leader")),
			"JobSet js 에 이름이 leader 인 역할이 없습니다.", "JobSet js has no role named leader."},
		{AllBeOfAttempt(1)(two().JobSet("js").Pods()),
			"JobSet js 에 떠 있는 파드가 없는데, 새 시도(restart-attempt)의 파드가 떠 있어야 합니다.",
			"JobSet js has no pod; pods of the new attempt (restart-attempt) should be up."},
		{HoldDifferentDevices()(both.JobSet("js").Pods()),
			"JobSet js 의 파드 w0 에는 GPU 가 여러 장 붙었는데, 파드마다 GPU 1장이어야 합니다.",
			"JobSet js has a pod that holds several GPUs, w0; the lab wants one GPU a pod."},
		{AnswerWithAddressOf(both.JobSet("js").PodAt("worker", 0))(both.File("big.txt")),
			"파드 w0 에 아직 IP 가 없어서 big.txt 파일의 답과 견줄 수 없습니다.", "Pod w0 has no IP yet to compare the answer in big.txt with."},
		{AnswerWithAddressOf(service.JobSet("js").PodAt("worker", 0))(snapshot.File{Name: "dns.txt", Text: "10.96.0.10", Written: true}),
			"dns.txt 에 나온 IP 는 서비스 dns 의 IP 인데, 지금 떠 있는 리더 파드의 IP 가 나와야 합니다.",
			"The IP in dns.txt is the IP of Service dns; the IP of the leader pod that runs now should be there."},
		{Say("a", 1)(both.File("twice.txt")), "twice.txt 파일에 a= 줄이 여럿이고 값이 서로 다릅니다.",
			"The file twice.txt says a= more than once, and not the same."},
		{HoldLabelsOf(both.JobSet("js").PodAt("worker", 0), "a")(both.File("twice.txt")),
			"twice.txt 파일에 키 a 줄이 두 번 나옵니다.", "The file twice.txt has the key a twice."},
		{CarryReasonOf(unjudged.JobSet("js").Workload())(both.File("big.txt")),
			"JobSet js 의 Workload 에 아직 사유가 없어서 big.txt 파일과 견줄 수 없습니다.",
			"Kueue has given no reason for JobSet js yet to compare big.txt with."},
		{BeInQueue("lq")(byPod.JobSet("js")),
			"JobSet js 의 큐 라벨이 worker 역할의 파드 템플릿에 붙어 있고 JobSet 자신에는 없어서, Kueue 가 한 덩어리로 입장시키지 않습니다.",
			"JobSet js has its queue label on the pod template of worker and not on itself, so Kueue does not admit it as one."},
		{HaveRunningPods(1)(both.JobSet("js")), "JobSet js 의 파드가 2개인데, 1개여야 합니다.", "JobSet js has 2 pods; the lab asks for 1."},
		{HaveOnePodPerRank()(two(w0).JobSet("js")),
			"JobSet js 의 worker-0-1 자리에 파드가 없는데, 자리마다 파드 하나가 떠 있어야 합니다.",
			"JobSet js has no pod at worker-0-1; there should be one running."},
		{HaveOnePodPerRank()(two(w0, w1, placed("w2", "worker", "1")).JobSet("js")),
			"JobSet js 의 worker-0-1 자리에 파드가 한꺼번에 2개 있는데, 자리마다 하나여야 합니다.",
			"JobSet js has at worker-0-1 2 pods at once; there should be one."},
		{HaveOnePodPerRank()(two(w0, w1, placed("l0", "leader", "0")).JobSet("js")),
			"JobSet js 의 spec 에 없는 leader-0-0 자리에 파드가 있습니다.", "JobSet js has a pod at leader-0-0, a place that its spec does not have."},
		{LendAll("nvidia.com/gpu", 3)(snapshot.Queue{}),
			"실습의 LocalQueue 가 이어질 ClusterQueue 가 없습니다.", "There is no ClusterQueue for the lab's LocalQueue to lead to."},
		{HoldLabelsOf(two(w0).JobSet("js").PodAt("worker", 1), "a")(both.File("twice.txt")),
			"JobSet js 에 완료 인덱스가 1 인 worker 파드가 없습니다.", "JobSet js has no worker pod of completion index 1."},
		{HaveOneWorkload()(owned.JobSet("js")),
			"JobSet js 에는 Workload 가 없고 Job 마다 따로 Workload 가 있는데, 한 덩어리로 입장해야 합니다.",
			"JobSet js has no Workload and its Jobs have one each; the lab wants it admitted as one."},
	} {
		if rare.refusal == nil {
			t.Errorf("not refused: %s", rare.en)
			continue
		}
		if want := (snapshot.Text{KO: rare.ko, EN: rare.en}); rare.refusal.Text != want {
			t.Errorf("what a learner is told is\n%s\nand not\n%s", fmt.Sprint(rare.refusal.Text), fmt.Sprint(want))
		}
	}
}
