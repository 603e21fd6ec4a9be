package lab

import (
	"net/netip"
	"slices"
	"strings"
)

// An answer is one address that a lookup gave, and the name that it gave it
// for. The name is empty where the tool prints the address alone.
type answer struct {
	name    string
	address netip.Addr
}

// answersIn reads the addresses out of what nslookup (busybox, old and new, and
// BIND's), getent hosts, host or dig print. The address of the DNS server
// itself, which every nslookup prints first, is no answer.
func answersIn(text string) []answer {
	var answers []answer
	named := "" // the name of the last "Name:" line; before the first, addresses are the server's
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		head := strings.ToLower(strings.TrimSuffix(fields[0], ":"))
		switch {
		case head == "server":
			named = ""
		case head == "name" && len(fields) > 1:
			named = host(fields[1])
		case head == "address" || head == "addresses":
			if address, ok := firstAddress(fields[1:]); ok && named != "" {
				answers = append(answers, answer{named, address})
			}
		default:
			answers = append(answers, otherAnswer(fields)...)
		}
	}
	return answers
}

// otherAnswer reads one line of getent, host or dig.
func otherAnswer(fields []string) []answer {
	if address, err := netip.ParseAddr(fields[0]); err == nil {
		if len(fields) == 1 {
			return []answer{{"", address}} // dig +short
		}
		return []answer{{host(fields[1]), address}} // getent hosts
	}
	last, err := netip.ParseAddr(fields[len(fields)-1])
	if err != nil || strings.HasPrefix(fields[0], ";") {
		return nil
	}
	if len(fields) == 4 && fields[1] == "has" || len(fields) == 5 && (fields[3] == "A" || fields[3] == "AAAA") {
		return []answer{{host(fields[0]), last}} // host, dig
	}
	return nil
}

func firstAddress(fields []string) (netip.Addr, bool) {
	for _, field := range fields {
		if address, err := netip.ParseAddr(strings.TrimSuffix(field, ",")); err == nil {
			return address, true
		}
	}
	return netip.Addr{}, false
}

func host(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// AnswerWithAddressOf judges that a lookup asked for the pod by its full name
// and was answered with the pod's present IP.
func AnswerWithAddressOf(pod Pod) Matcher[File] {
	return func(f File) *Refusal {
		if r := pod.absent(); r != nil {
			return r
		}
		if r := f.unwritten(); r != nil {
			return r
		}
		var right []string
		for _, ip := range pod.live.Status.PodIPs {
			right = append(right, ip.IP)
		}
		if len(right) == 0 {
			return refuse(PodHasNoIP, tell("파드 %s 에 아직 IP 가 없어서 %s 파일의 답과 견줄 수 없습니다.",
				"Pod %s has no IP yet to compare the answer in %s with.", pod.live.Name, f.Name)).with("pod IP", "one", podState(pod.live))
		}
		answers := answersIn(f.Text)
		if len(answers) == 0 {
			if complaint := complaintIn(f.Text); complaint != "" {
				return refuse(LookupNameNotFound, tell("%s 에 담긴 조회는 그런 이름이 없다는 답을 받았는데, 끝까지 다 적은 리더 파드의 이름으로 물어야 합니다.",
					"The lookup in %s was told that there is no such name; the lab asks for the leader pod's name, written out to its end.", f.Name)).
					with("name", pod.fullName(), complaint).with("address", list(right), "none")
			}
			return refuse(LookupNoAnswer, tell("%s 에 조회의 답이 보이지 않는데, 리더 파드의 IP 가 나와야 합니다.",
				"There is no answer of a lookup in %s; the leader pod's IP should be there.", f.Name)).
				with("name", pod.fullName(), f.quote()).with("address", list(right), "none")
		}
		for _, answer := range answers {
			address := answer.address.String()
			switch {
			case answer.name != "" && answer.name != pod.fullName():
				return refuse(LookupOtherName, tell("%s 에 담긴 조회가 물은 이름은 %s 인데, 리더 파드의 이름을 끝까지 다 적어 물어야 합니다.",
					"The lookup in %s asked for %s; the lab asks for the leader pod's name, written out to its end.", f.Name, answer.name)).
					with("name", pod.fullName(), answer.name).with("address", list(right), address)
			case !slices.Contains(right, address):
				whose := pod.of.whose(address)
				words := tell("%s 에 나온 IP 는 "+whose.KO+"인데, 지금 떠 있는 리더 파드의 IP 가 나와야 합니다.",
					"The IP in %s is "+whose.EN+"; the IP of the leader pod that runs now should be there.", f.Name)
				return refuse(LookupOtherAddress, words).with("address", list(right), address)
			}
		}
		return nil
	}
}

// complaintIn is the line in which a lookup says that there is no such name.
func complaintIn(text string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "NXDOMAIN") || strings.Contains(line, "can't resolve") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// whose tells what an IP belongs to, as far as this snapshot knows.
func (j JobSet) whose(address string) Words {
	for _, pod := range j.snapshot.Pods {
		if pod.Status.PodIP == address {
			return tell("파드 %s 의 IP ", "the IP of pod %s", pod.Name)
		}
	}
	for _, service := range j.snapshot.Services {
		if service.Spec.ClusterIP == address {
			return tell("서비스 %s 의 IP ", "the IP of Service %s", service.Name)
		}
	}
	for _, pod := range slices.Backward(j.snapshot.Seen.Sightings) {
		if pod.Kind == "Pod" && pod.Address == address {
			return tell("이미 사라진 파드 %s 의 IP ", "the IP of pod %s, which is gone", pod.Name)
		}
	}
	return tell("%s 에 있는 어느 파드의 것도 아닌 IP ", "the IP of no pod in %s", j.snapshot.Namespace)
}
