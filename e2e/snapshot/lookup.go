package snapshot

import (
	"net/netip"
	"strings"
)

// An answer is one address that a lookup gave, and the name that it gave it
// for. The name is empty where the tool prints the address alone.
type answer struct {
	Name    string
	Address netip.Addr
}

// AnswersIn reads the addresses out of what nslookup (busybox, old and new, and
// BIND's), getent hosts, host or dig print. The address of the DNS server
// itself, which every nslookup prints first, is no answer.
func AnswersIn(text string) []answer {
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

// ComplaintIn is the line in which a lookup says that there is no such name.
func ComplaintIn(text string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "NXDOMAIN") || strings.Contains(line, "can't resolve") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
