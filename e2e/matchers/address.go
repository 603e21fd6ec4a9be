package matchers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// otherAddress is the mismatch of an IP in a file that is not the pod's: it says whose it
// is, and that it stands beside the pod's, or that the pod may have had it before it was
// started again.
func otherAddress(f snapshot.File, instead snapshot.Pod, address string, beside bool) snapshot.Text {
	whose, known := whose(instead.Of.Snapshot, address)
	if beside {
		return snapshot.TextOf("%s 에 지금 떠 있는 리더 파드의 IP 와 함께 "+whose.KO+"도 나오는데, 리더 파드의 이름을 조회한 답에는 리더 파드의 IP 만 나와야 합니다.",
			"Beside the IP of the leader pod that runs now, %s has "+whose.EN+"; a lookup of the leader pod's name should be answered with the leader pod's alone.", f.Name)
	}
	if !known && snapshot.ContainerRestarts(instead.Live) > 0 {
		return snapshot.TextOf("%s 에 나온 IP 는 "+whose.KO+"인데, 리더 파드 %s 의 컨테이너가 다시 시작된 적이 있어서 그때 IP 가 바뀌었을 수 있습니다.",
			"The IP in %s is "+whose.EN+"; the leader pod %s was started again, and its IP may have changed with that.", f.Name, instead.Live.Name)
	}
	return snapshot.TextOf("%s 에 나온 IP 는 "+whose.KO+"인데, 지금 떠 있는 리더 파드의 IP 가 나와야 합니다.",
		"The IP in %s is "+whose.EN+"; the IP of the leader pod that runs now should be there.", f.Name)
}

// whose says what an IP belongs to, as far as this snapshot knows.
func whose(s *snapshot.Snapshot, address string) (whose snapshot.Text, known bool) {
	for _, pod := range s.Pods {
		if pod.Status.PodIP == address {
			return snapshot.TextOf("파드 %s 의 IP ", "the IP of pod %s", pod.Name), true
		}
	}
	for _, service := range s.Services {
		if service.Spec.ClusterIP == address {
			return snapshot.TextOf("서비스 %s 의 IP ", "the IP of Service %s", service.Name), true
		}
	}
	for _, pod := range slices.Backward(s.Seen.Objects) {
		if pod.Kind == "Pod" && pod.Address == address {
			return snapshot.TextOf("이미 사라진 파드 %s 의 IP ", "the IP of pod %s, which is gone", pod.Name), true
		}
	}
	return snapshot.TextOf("%s 에 있는 어느 파드의 것도 아닌 IP ", "the IP of no pod in %s", s.Namespace), false
}

func isNamed(name string) func(corev1.Pod) bool {
	return func(pod corev1.Pod) bool { return pod.Name == name }
}
