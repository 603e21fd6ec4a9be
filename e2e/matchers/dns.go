package matchers

import (
	"net/netip"
	"slices"

	"k8s.io/utils/ptr"

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
		var right []netip.Addr
		for _, ip := range pod.Live.Status.PodIPs {
			if address, err := netip.ParseAddr(ip.IP); err == nil {
				right = append(right, address)
			}
		}
		if len(right) == 0 {
			return NewMismatch(PodHasNoIP, snapshot.TextOf("파드 %s 에 아직 IP 가 없어서 %s 파일의 답과 견줄 수 없습니다.",
				"Pod %s has no IP yet to compare the answer in %s with.", pod.Live.Name, f.Name)).Row("pod IP", "one", snapshot.PodState(pod.Live))
		}
		return readEitherWay(f, func(f snapshot.File) *Mismatch { return answersWith(f, pod, right) })
	}
}

func answersWith(f snapshot.File, pod snapshot.Pod, right []netip.Addr) *Mismatch {
	found := snapshot.LookupIn(f.Text, pod.FullName())
	for _, address := range found.Addresses {
		if !slices.Contains(right, address) {
			beside := slices.ContainsFunc(right, func(a netip.Addr) bool { return slices.Contains(found.Addresses, a) })
			return NewMismatch(LookupOtherAddress, otherAddress(f, pod, address.String(), beside)).Row("address", listed(right), address)
		}
	}
	// An object's own name is no DNS name: that is kubectl's output, and no lookup.
	found.Others = slices.DeleteFunc(found.Others, func(other snapshot.OtherAnswer) bool {
		return slices.ContainsFunc(pod.Of.AllPods(), isNamed(other.Name))
	})
	var refusal *Mismatch
	switch {
	case len(found.Addresses) > 0:
		return nil
	case len(found.Others) > 0:
		other := found.Others[0]
		refusal = NewMismatch(LookupOtherName, snapshot.TextOf("%s 에 담긴 조회가 물은 이름은 %s 인데, 리더 파드의 이름을 끝까지 다 적어 물어야 합니다.",
			"The lookup in %s asked for %s; the lab asks for the leader pod's name, written out to its end.", f.Name, other.Name)).
			Row("name", pod.FullName(), other.Name).Row("address", listed(right), other.Address)
	case found.Complaint != "":
		words := snapshot.TextOf("%s 에 담긴 조회는 그런 이름이 없다는 답을 받았는데, 끝까지 다 적은 리더 파드의 이름으로 물어야 합니다.",
			"The lookup in %s found no such name; the lab asks for the leader pod's name, written out to its end.", f.Name)
		if found.Asked {
			words = snapshot.TextOf("%s 에 담긴 조회는 리더 파드의 이름을 끝까지 다 적어 물었지만 그런 이름이 없다는 답을 받았는데, 리더 파드의 IP 가 나와야 합니다.",
				"The lookup in %s asked for the leader pod's name, written out to its end, and found no such name; the leader pod's IP should be there.", f.Name)
		}
		refusal = NewMismatch(LookupNameNotFound, words).Row("name", pod.FullName(), found.Complaint).Row("address", listed(right), "none")
	default:
		return NewMismatch(LookupNoAnswer, snapshot.TextOf("%s 에 조회의 답이 보이지 않는데, 리더 파드의 IP 가 나와야 합니다.",
			"There is no answer of a lookup in %s; the leader pod's IP should be there.", f.Name)).
			Row("name", pod.FullName(), f.Quote()).Row("address", listed(right), "none")
	}
	if noSuchName := withoutFullName(pod.Of); noSuchName != nil {
		noSuchName.Rows = append(noSuchName.Rows, refusal.Rows...)
		return noSuchName
	}
	return refusal
}

// withoutFullName says why the pods of a JobSet do not have the names of the lab text: its
// spec.network gives them another subdomain, or none. A lookup that asked rightly finds
// nothing then.
func withoutFullName(j snapshot.JobSet) *Mismatch {
	network := j.Live.Spec.Network
	switch {
	case network == nil:
		return nil
	case !ptr.Deref(network.EnableDNSHostnames, true):
		return NewMismatch(DNSHostnamesOff, snapshot.TextOf("JobSet %s 의 spec.network.enableDNSHostnames 가 false 라서 헤드리스 서비스와 파드의 hostname·subdomain 이 없고, 실습에 나온 이름도 없습니다.",
			"JobSet %s has spec.network.enableDNSHostnames false, so there is no headless Service, no hostname and no subdomain, and the name in the lab text does not exist.", j.Name)).
			Row("enableDNSHostnames", true, false)
	case network.Subdomain != "" && network.Subdomain != j.Name:
		return NewMismatch(SubdomainOther, snapshot.TextOf("JobSet %s 의 spec.network.subdomain 이 %s 라서, 실습에 나온 이름(서비스 %[1]s 아래의 이름)은 없습니다.",
			"JobSet %s has a subdomain of its own in spec.network (%s), so the name in the lab text, below Service %[1]s, does not exist.", j.Name, network.Subdomain)).
			Row("subdomain", j.Name, network.Subdomain)
	}
	return nil
}

func listed(addresses []netip.Addr) string {
	var words []string
	for _, address := range addresses {
		words = append(words, address.String())
	}
	return text.List(words)
}
