package matchers

import (
	"slices"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// AnswerWithAddressOf judges that a lookup asked for the pod by its full name
// and was answered with the pod's present IP.
func AnswerWithAddressOf(pod snapshot.Pod) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := MissingPod(pod); r != nil {
			return r
		}
		if r := missingFile(f); r != nil {
			return r
		}
		var right []string
		for _, ip := range pod.Live.Status.PodIPs {
			right = append(right, ip.IP)
		}
		if len(right) == 0 {
			return NewMismatch(PodHasNoIP, snapshot.TextOf("파드 %s 에 아직 IP 가 없어서 %s 파일의 답과 견줄 수 없습니다.",
				"Pod %s has no IP yet to compare the answer in %s with.", pod.Live.Name, f.Name)).Row("pod IP", "one", snapshot.PodState(pod.Live))
		}
		answers := snapshot.AnswersIn(f.Text)
		if len(answers) == 0 {
			if complaint := snapshot.ComplaintIn(f.Text); complaint != "" {
				return NewMismatch(LookupNameNotFound, snapshot.TextOf("%s 에 담긴 조회는 그런 이름이 없다는 답을 받았는데, 끝까지 다 적은 리더 파드의 이름으로 물어야 합니다.",
					"The lookup in %s found no such name; the lab asks for the leader pod's name, written out to its end.", f.Name)).
					Row("name", pod.FullName(), complaint).Row("address", text.List(right), "none")
			}
			return NewMismatch(LookupNoAnswer, snapshot.TextOf("%s 에 조회의 답이 보이지 않는데, 리더 파드의 IP 가 나와야 합니다.",
				"There is no answer of a lookup in %s; the leader pod's IP should be there.", f.Name)).
				Row("name", pod.FullName(), f.Quote()).Row("address", text.List(right), "none")
		}
		for _, answer := range answers {
			address := answer.Address.String()
			switch {
			case answer.Name != "" && answer.Name != pod.FullName():
				return NewMismatch(LookupOtherName, snapshot.TextOf("%s 에 담긴 조회가 물은 이름은 %s 인데, 리더 파드의 이름을 끝까지 다 적어 물어야 합니다.",
					"The lookup in %s asked for %s; the lab asks for the leader pod's name, written out to its end.", f.Name, answer.Name)).
					Row("name", pod.FullName(), answer.Name).Row("address", text.List(right), address)
			case !slices.Contains(right, address):
				whose := whose(pod.Of, address)
				words := snapshot.TextOf("%s 에 나온 IP 는 "+whose.KO+"인데, 지금 떠 있는 리더 파드의 IP 가 나와야 합니다.",
					"The IP in %s is "+whose.EN+"; the IP of the leader pod that runs now should be there.", f.Name)
				return NewMismatch(LookupOtherAddress, words).Row("address", text.List(right), address)
			}
		}
		return nil
	}
}

// whose tells what an IP belongs to, as far as this snapshot knows.
func whose(j snapshot.JobSet, address string) snapshot.Text {
	for _, pod := range j.Snapshot.Pods {
		if pod.Status.PodIP == address {
			return snapshot.TextOf("파드 %s 의 IP ", "the IP of pod %s", pod.Name)
		}
	}
	for _, service := range j.Snapshot.Services {
		if service.Spec.ClusterIP == address {
			return snapshot.TextOf("서비스 %s 의 IP ", "the IP of Service %s", service.Name)
		}
	}
	for _, pod := range slices.Backward(j.Snapshot.Seen.Objects) {
		if pod.Kind == "Pod" && pod.Address == address {
			return snapshot.TextOf("이미 사라진 파드 %s 의 IP ", "the IP of pod %s, which is gone", pod.Name)
		}
	}
	return snapshot.TextOf("%s 에 있는 어느 파드의 것도 아닌 IP ", "the IP of no pod in %s", j.Snapshot.Namespace)
}
