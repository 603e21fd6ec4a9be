package snapshot

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

const (
	asked  = "hello-leader-0-0.hello.ml.svc.cluster.local"
	server = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n"
)

// answered are what tools print that looked up asked and were answered with 10.244.0.9.
var answered = map[string]string{
	"busybox nslookup":              server + "Name:\t" + asked + "\nAddress: 10.244.0.9\n\n",
	"busybox nslookup, no IPv6":     server + "Name:\t" + asked + "\nAddress: 10.244.0.9\n\n*** Can't find " + asked + ": No answer\n\n",
	"an old busybox nslookup":       "Server:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns.kube-system.svc.cluster.local\n\nName:      " + asked + "\nAddress 1: 10.244.0.9 " + asked + "\n",
	"BIND's nslookup":               "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nNon-authoritative answer:\nName:\t" + asked + ".\nAddress: 10.244.0.9\n",
	"BIND's nslookup -debug":        "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\n------------\n    QUESTIONS:\n\t" + asked + ", type = A, class = IN\n    ANSWERS:\n    ->  " + asked + "\n\tinternet address = 10.244.0.9\n\tttl = 30\n------------\nName:\t" + asked + "\nAddress: 10.244.0.9\n",
	"Windows' nslookup":             "Server:  UnKnown\nAddress:  10.96.0.10\n\nName:    " + asked + "\nAddresses:  10.244.0.9\n\n",
	"Windows' nslookup in Korean":   "서버:    UnKnown\nAddress:  10.96.0.10\n\n이름:    " + asked + "\nAddress:  10.244.0.9\n",
	"full width":                    "Name：" + asked + "\nAddress：10.244.0.9\n",
	"no blank behind a colon":       asked + ":10.244.0.9\n",
	"zsh, no line end":              "10.244.0.9%\n",
	"nslookup | grep Address":       "Address:\t10.96.0.10:53\nAddress: 10.244.0.9\n",
	"nslookup | tail -2":            "Name:\t" + asked + "\nAddress: 10.244.0.9\n",
	"echo $(nslookup)":              "Server: 10.96.0.10 Address: 10.96.0.10:53 Name: " + asked + " Address: 10.244.0.9\n",
	"interactive nslookup":          "> " + asked + "\nServer:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\t" + asked + "\nAddress: 10.244.0.9\n> exit\n",
	"upper case":                    "Server: 10.96.0.10\nAddress: 10.96.0.10\n\nName: HELLO-leader-0-0.hello.ml.svc.cluster.local\nAddress: 10.244.0.9\n",
	"several lookups":               "Server: 10.96.0.10\nAddress: 10.96.0.10\n\n** server can't find x: NXDOMAIN\n\nServer: 10.96.0.10\nAddress: 10.96.0.10\n\nName: " + asked + "\nAddress: 10.244.0.9\n",
	"nslookup, then getent":         "Server: 10.96.0.10\nAddress: 10.96.0.10\n\n** server can't find x: NXDOMAIN\n\n10.244.0.9      " + asked + "\n",
	"no blank lines":                "Server: 10.96.0.10\nAddress: 10.96.0.10\nName: " + asked + "\nAddress: 10.244.0.9\n",
	"dig":                           "\n; <<>> DiG 9.18.24 <<>> @10.96.0.10 " + asked + "\n; (1 server found)\n;; global options: +cmd\n;; QUESTION SECTION:\n;" + asked + ". IN A\n\n;; ANSWER SECTION:\n" + asked + ".\t30\tIN\tA\t10.244.0.9\n\n;; SERVER: 10.96.0.10#53(10.96.0.10) (UDP)\n",
	"dig +short":                    "10.244.0.9\n",
	"dig +yaml":                     "- type: MESSAGE\n  message:\n    type: RECURSIVE_RESPONSE\n    response_address: \"10.96.0.10\"\n    response_port: 53\n    response_message_data:\n      QUESTION_SECTION:\n        - " + asked + ". IN A\n      ANSWER_SECTION:\n        - " + asked + ". 30 IN A 10.244.0.9\n    response_address: \"10.96.0.10\"\n",
	"drill":                         ";; ->>HEADER<<- opcode: QUERY, rcode: NOERROR, id: 1\n;; ANSWER SECTION:\n" + asked + ".\t30\tIN\tA\t10.244.0.9\n;; Query time: 1 msec\n;; SERVER: 10.96.0.10\n",
	"doggo":                         "NAME  TYPE  CLASS  TTL  ADDRESS  NAMESERVER\n" + asked + ".  A  IN  30s  10.244.0.9  10.96.0.10:53\n",
	"dog":                           "\x1b[1;32mA\x1b[0m \x1b[1;34m" + asked + ".\x1b[0m 30s   10.244.0.9\n",
	"Resolve-DnsName":               "Name   Type   TTL   Section    IPAddress\n----   ----   ---   -------    ---------\n" + asked + " A  30  Answer  10.244.0.9\n",
	"host":                          asked + " has address 10.244.0.9\n",
	"host with a server":            "Using domain server:\nName: 10.96.0.10\nAddress: 10.96.0.10#53\nAliases: \n\n" + asked + " has address 10.244.0.9\n",
	"getent hosts":                  "10.244.0.9      " + asked + "\n",
	"getent hosts, an alias":        "10.244.0.9      " + asked + "  hello-leader-0-0\n",
	"getent ahosts":                 "10.244.0.9      STREAM " + asked + "\n10.244.0.9      DGRAM  \n10.244.0.9      RAW    \n",
	"resolvectl":                    asked + ": 10.244.0.9    -- link: eth0\n\n-- Information acquired via protocol DNS in 1.5ms.\n-- Data is authenticated: no\n",
	"busybox ping":                  "PING " + asked + " (10.244.0.9): 56 data bytes\n64 bytes from 10.244.0.9: seq=0 ttl=64 time=0.052 ms\n\n--- " + asked + " ping statistics ---\n1 packets transmitted, 1 packets received, 0% packet loss\nround-trip min/avg/max = 0.052/0.052/0.052 ms\n",
	"iputils ping":                  "PING " + asked + " (10.244.0.9) 56(84) bytes of data.\n64 bytes from 10-244-0-9.hello.ml.svc.cluster.local (10.244.0.9): icmp_seq=1 ttl=64 time=0.05 ms\n",
	"iputils ping -4":               "PING  (10.244.0.9) 56(84) bytes of data.\n64 bytes from 10.244.0.9: icmp_seq=1 ttl=63 time=0.08 ms\n",
	"ping -I":                       "PING " + asked + " (10.244.0.9) from 10.244.0.12 eth0: 56(84) bytes of data.\n",
	"traceroute":                    "traceroute to " + asked + " (10.244.0.9), 30 hops max, 46 byte packets\n 1  10.244.0.1 (10.244.0.1)  0.005 ms  0.004 ms\n 2  " + asked + " (10.244.0.9)  0.005 ms\n",
	"nc of busybox":                 "nc: " + asked + " (10.244.0.9:80): Connection refused\n",
	"nc of OpenBSD":                 "nc: connect to " + asked + " (10.244.0.9) port 80 (tcp) failed: Connection refused\n",
	"nc.traditional":                asked + " [10.244.0.9] 80 (http) : Connection refused\n",
	"curl -v":                       "* Host " + asked + ":80 was resolved.\n* IPv6: (none)\n* IPv4: 10.244.0.9\n*   Trying 10.244.0.9:80...\n* connect to 10.244.0.9 port 80 from 10.244.0.12 port 54321 failed: Connection refused\n* Failed to connect to " + asked + " port 80 after 0 ms: Couldn't connect to server\n",
	"an old curl -v":                "*   Trying 10.244.0.9:80...\n* connect to 10.244.0.9 port 80 failed: Connection refused\n* Failed to connect to " + asked + " port 80: Connection refused\n* Closing connection 0\ncurl: (7) Failed to connect to " + asked + " port 80: Connection refused\n",
	"busybox wget":                  "Connecting to " + asked + " (10.244.0.9:80)\nwget: can't connect to remote host (10.244.0.9): Connection refused\n",
	"GNU wget":                      "--2026-12-01 06:00:00--  http://" + asked + "/\nResolving " + asked + " (" + asked + ")... 10.244.0.9\nConnecting to " + asked + " (" + asked + ")|10.244.0.9|:80... failed: Connection refused.\n",
	"telnet":                        "Trying 10.244.0.9...\ntelnet: Unable to connect to remote host: Connection refused\n",
	"busybox telnet":                "telnet: can't connect to remote host (10.244.0.9): Connection refused\n",
	"Ncat":                          "Ncat: Version 7.93 ( https://nmap.org/ncat )\nNcat: Connection to 10.244.0.9 failed: Connection refused.\n",
	"curl -w":                       "remote_ip=10.244.0.9\n",
	"ssh -v":                        "debug1: Connecting to " + asked + " [10.244.0.9] port 22.\n",
	"Python gethostbyname":          "10.244.0.9\n",
	"Python's prompt":               ">>> import socket\n>>> socket.gethostbyname('" + asked + "')\n'10.244.0.9'\n",
	"Python gethostbyname_ex":       "('" + asked + "', [], ['10.244.0.9'])\n",
	"Python print(name, IP)":        asked + " 10.244.0.9\n",
	"Python f-string":               asked + " -> 10.244.0.9\n",
	"Python getaddrinfo":            "[(<AddressFamily.AF_INET: 2>, <SocketKind.SOCK_STREAM: 1>, 6, '', ('10.244.0.9', 0)), (<AddressFamily.AF_INET: 2>, <SocketKind.SOCK_DGRAM: 2>, 17, '', ('10.244.0.9', 0))]\n",
	"Python 2 getaddrinfo":          "[(2, 1, 6, '', ('10.244.0.9', 80)), (2, 2, 17, '', ('10.244.0.9', 80))]\n",
	"Go net.LookupHost":             "[10.244.0.9] <nil>\n",
	"Go net.LookupIPAddr":           "[{10.244.0.9 }]\n",
	"Node dns.lookup":               "{ address: '10.244.0.9', family: 4 }\n",
	"Node's callback":               "null 10.244.0.9 4\n",
	"Node's words":                  "address: 10.244.0.9 family: IPv4\n",
	"Node dns.resolve4":             "[ '10.244.0.9' ]\n",
	"JSON":                          "{\"name\": \"" + asked + "\", \"address\": \"10.244.0.9\"}\n",
	"JSON, indented":                "{\n  \"host\": \"" + asked + "\",\n  \"ip\": \"10.244.0.9\"\n}\n",
	"Ruby Addrinfo":                 "#<Addrinfo: 10.244.0.9 TCP (" + asked + ")>\n",
	"Ruby getaddrinfo":              "[[\"AF_INET\", 0, \"10.244.0.9\", \"10.244.0.9\", 2, 1, 6]]\n",
	"Ruby Resolv":                   "#<Resolv::IPv4 10.244.0.9>\n",
	"irb":                           "irb(main):001:0> IPSocket.getaddress('" + asked + "')\n=> \"10.244.0.9\"\n",
	"PHP gethostbynamel":            "Array\n(\n    [0] => 10.244.0.9\n)\n",
	"PHP var_dump":                  "string(10) \"10.244.0.9\"\n",
	"PHP dns_get_record":            "Array\n(\n    [0] => Array\n        (\n            [host] => " + asked + "\n            [class] => IN\n            [ttl] => 30\n            [type] => A\n            [ip] => 10.244.0.9\n        )\n\n)\n",
	"Java InetAddress":              asked + "/10.244.0.9\n",
	"IPv4 in IPv6":                  "::ffff:10.244.0.9 " + asked + "\n",
	"a transcript":                  "/ # nslookup " + asked + " 10.96.0.10\n" + server + "Name:\t" + asked + "\nAddress: 10.244.0.9\n\n/ # exit\n",
	"a transcript of root":          "root@vm:~# kubectl -n ml exec hello-worker-0-0-aaaaa -- nslookup " + asked + " 10.96.0.10\n" + server + "Name:\t" + asked + "\nAddress: 10.244.0.9\n",
	"a transcript with another try": "[root@vm ~]# dig +short hello.ml\n[root@vm ~]# dig @10.96.0.10 +short " + asked + "\n10.244.0.9\n",
	"a command without its prompt":  "nslookup " + asked + " 10.96.0.10\n" + server + "Name:\t" + asked + "\nAddress: 10.244.0.9\n",
	"set -x":                        "+ dig @10.96.0.10 +short " + asked + "\n10.244.0.9\n",
	"another name too":              "10.244.0.12     hello-worker-0-0.hello.ml.svc.cluster.local\n10.244.0.9      " + asked + "\n",
}

func TestLookupsOfEveryTool(t *testing.T) {
	t.Parallel()
	for tool, text := range answered {
		for how, printed := range map[string]string{"": text, ", from a terminal": asCopied(text)} {
			found := LookupIn(Plain(printed), asked)
			if len(found.Addresses) == 0 || slices.ContainsFunc(found.Addresses, func(a netip.Addr) bool { return a.String() != "10.244.0.9" }) {
				t.Errorf("%s%s: %+v", tool, how, found)
			}
			// The same with another address is an answer too, a wrong one.
			other := LookupIn(Plain(strings.ReplaceAll(printed, "10.244.0.9", "10.244.0.7")), asked)
			if !slices.ContainsFunc(other.Addresses, func(a netip.Addr) bool { return a.String() == "10.244.0.7" }) {
				t.Errorf("%s%s, another address: %+v", tool, how, other)
			}
		}
	}
}

// asCopied is a text as a terminal's recording has it: CRLF, colours, blanks at the end.
func asCopied(text string) string {
	return "\x1b]0;vm\x07\ufeff" + strings.ReplaceAll(strings.ReplaceAll(text, "10.244.0.9", "\x1b[1;32m10.244.0.9\x1b[0m"), "\n", " \u00a0\r\r\n")
}

// A terminal of any width breaks a line anywhere, in the name and in the address too.
func TestLookupsWrappedByATerminal(t *testing.T) {
	t.Parallel()
	for width := narrowest; width <= 100; width++ {
		for _, tool := range []string{"busybox ping", "getent hosts", "host", "dig", "GNU wget"} {
			file := File{Text: Plain(wrapped(answered[tool], width))}
			found := append(LookupIn(file.Text, asked).Addresses, LookupIn(file.Unwrapped().Text, asked).Addresses...)
			if !slices.ContainsFunc(found, func(a netip.Addr) bool { return a.String() == "10.244.0.9" }) {
				t.Errorf("%s in %d columns: %v in\n%s", tool, width, found, file.Text)
			}
		}
	}
}

func wrapped(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for len(line) > width {
			lines, line = append(lines, line[:width]), line[width:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// What shows no answer for the name, though an address may be in it.
func TestWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"the server alone":            "Server: 10.96.0.10\nAddress: 10.96.0.10:53\n\n** server can't find hello: NXDOMAIN\n",
		"the server alone, no port":   "Server: 10.96.0.10\nAddress: 10.96.0.10\n\n** server can't find hello: NXDOMAIN\n",
		"prose":                       "the leader has 10.244.0.9\n",
		"prose in Korean":             "리더 파드의 IP 는 10.244.0.9 입니다\n",
		"nothing":                     "",
		"only the command":            "/ # nslookup " + asked + " 10.244.0.9\n",
		"the command, no prompt":      "nslookup " + asked + " 10.244.0.9\n",
		"the command by kubectl":      "kubectl exec hello-worker-0-0-aaaaa -- nslookup " + asked + " 10.244.0.9\n",
		"a command that is missing":   "sh: dig: not found\n",
		"a comment":                   "# " + asked + " 10.244.0.9\n",
		"ping of the address":         "PING 10.244.0.9 (10.244.0.9) 56(84) bytes of data.\n64 bytes from 10.244.0.9: icmp_seq=1 ttl=63 time=0.08 ms\n",
		"get pods -o wide":            "NAME                     READY   STATUS    RESTARTS   AGE   IP           NODE   NOMINATED NODE   READINESS GATES\nhello-leader-0-0-aaaaa   1/1     Running   0          5m    10.244.0.9   node   <none>           <none>\n",
		"get pods, custom columns":    "NAME                     IP\nhello-leader-0-0-aaaaa   10.244.0.9\n",
		"describe pod":                "Name:             hello-leader-0-0-aaaaa\nNamespace:        ml\nNode:             node/172.18.0.2\nLabels:           batch.kubernetes.io/job-completion-index=0\nStatus:           Running\nIP:               10.244.0.9\nIPs:\n  IP:           10.244.0.9\n",
		"get pod -o yaml":             "metadata:\n  labels:\n    batch.kubernetes.io/job-completion-index: \"0\"\n  name: hello-leader-0-0-aaaaa\nstatus:\n  hostIP: 172.18.0.2\n  podIP: 10.244.0.9\n  podIPs:\n  - ip: 10.244.0.9\n",
		"get pod -o json":             "{\"status\": {\"hostIP\": \"172.18.0.2\", \"podIP\": \"10.244.0.9\", \"podIPs\": [{\"ip\": \"10.244.0.9\"}]}}\n",
		"get endpoints":               "NAME    ENDPOINTS                             AGE\nhello   10.244.0.9,10.244.0.12,10.244.0.13   5m\n",
		"ip address":                  "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP>\n    inet 10.244.0.9/24 brd 10.244.0.255 scope global eth0\n",
		"the leader's own hosts file": "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n10.244.0.9\t" + asked + "\thello-leader-0-0\n",
		"a reverse lookup":            server + "9.0.244.10.in-addr.arpa\tname = " + asked + "\n",
		"busybox's reverse lookup":    "Server:    10.96.0.10\nAddress 1: 10.96.0.10 kube-dns\n\nName:      10.244.0.9\nAddress 1: 10.244.0.9 " + asked + "\n",
		"the short name":              "10.244.0.9 hello-leader-0-0\n",
		"the Service's name":          server + "Name:\thello.ml.svc.cluster.local\nAddress: 10.244.0.9\n",
		"the Service's name, getent":  "10.244.0.9      STREAM hello.ml.svc.cluster.local\n10.244.0.9      DGRAM  \n",
		"a name with more before it":  "10.244.0.9 my-" + asked + "\n",
		"a name with more behind it":  "10.244.0.9 " + asked + ".ml.svc.cluster.local\n",
	} {
		for how, printed := range map[string]string{"": text, ", from a terminal": asCopied(text)} {
			if found := LookupIn(Plain(printed), asked); len(found.Addresses) != 0 {
				t.Errorf("%s%s: %+v", what, how, found)
			}
		}
	}
}

func TestComplaints(t *testing.T) {
	t.Parallel()
	for tool, text := range map[string]string{
		"busybox nslookup":    server + "** server can't find " + asked + ": NXDOMAIN\n",
		"an old busybox":      "nslookup: can't resolve '" + asked + "'\n",
		"host":                "Host " + asked + " not found: 3(NXDOMAIN)\n",
		"dig":                 ";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 1\n;; QUESTION SECTION:\n;" + asked + ". IN A\n",
		"busybox ping":        "ping: bad address '" + asked + "'\n",
		"iputils ping":        "ping: " + asked + ": Name or service not known\n",
		"musl ping":           "ping: " + asked + ": Name does not resolve\n",
		"curl":                "curl: (6) Could not resolve host: " + asked + "\n",
		"GNU wget":            "wget: unable to resolve host address '" + asked + "'\n",
		"Python":              "socket.gaierror: [Errno -2] Name or service not known\n",
		"Go":                  "lookup " + asked + " on 10.96.0.10:53: no such host\n",
		"Node":                "Error: getaddrinfo ENOTFOUND " + asked + "\n",
		"Ruby on macOS":       "nodename nor servname provided, or not known\n",
		"Java":                "java.net.UnknownHostException: " + asked + ": Name or service not known\n",
		"resolvectl":          asked + ": resolve call failed: '" + asked + "' not found\n",
		"a second, good try":  "ping: bad address 'x'\n",
		"nc of busybox":       "nc: bad address '" + asked + "'\n",
		"telnet of inetutils": "telnet: could not resolve " + asked + "/telnet: Name or service not known\n",
	} {
		if found := LookupIn(text, asked); found.Complaint == "" || len(found.Addresses) > 0 || found.Asked != strings.Contains(text, asked) {
			t.Errorf("%s: %+v", tool, found)
		}
	}
	for what, text := range map[string]string{
		"no IPv6":    "*** Can't find " + asked + ": No answer\n",
		"no server":  ";; connection timed out; no servers could be reached\n",
		"no command": "sh: nslookup: not found\n",
		"typed":      "$ echo bad address\n",
	} {
		if found := LookupIn(text, asked); found.Complaint != "" {
			t.Errorf("%s: %+v", what, found)
		}
	}
	if fmt.Sprint(LookupIn("", asked)) != fmt.Sprint(Lookup{}) {
		t.Error("an empty text shows something")
	}
}
