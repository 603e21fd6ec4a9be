package snapshot

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A Lookup is what a text shows of looking up one name.
type Lookup struct {
	// Addresses are the answers for the name, and those that stand alone, without any name,
	// as dig +short prints them.
	Addresses []netip.Addr
	// Others are the answers for other names.
	Others []OtherAnswer
	// Complaint is the line in which a lookup says that there is no such name.
	Complaint string
	// Asked says that the name stands in the text, in a command or a complaint too.
	Asked bool
}

// An OtherAnswer is an address that was given for another name than the one asked about.
type OtherAnswer struct {
	Name    string
	Address netip.Addr
}

// IsNone reports whether the text shows no lookup at all.
func (l Lookup) IsNone() bool {
	return len(l.Addresses) == 0 && len(l.Others) == 0 && l.Complaint == ""
}

// LookupIn reads what a tool that looks names up, or connects by name, has printed. No tool
// is known by itself; they have in common that the answer is
//   - an address on a line with the name (getent, host, dig, ping, wget, nc, Python's
//     gethostbyname_ex, Java's InetAddress …), or
//   - an address on a line of its own below the name (nslookup, curl, PHP's dns_get_record), or
//   - an address without a name, beside nothing but the words of such tools (dig +short,
//     Go's net.LookupHost, Node's dns.lookup, Python's getaddrinfo …).
//
// The address of the DNS server is no answer, nor is that of who asks, nor what was typed.
func LookupIn(text, name string) Lookup {
	name = host(name)
	found := Lookup{Asked: name != "" && strings.Contains(strings.ToLower(text), name), Complaint: complaintIn(text)}
	below, server := "", false // the name that the lines above are about; whether the DNS server's own address is next
	for line := range strings.Lines(onePerLine(text)) {
		line = strings.TrimSpace(line)
		head, value, _ := strings.Cut(strings.ToLower(line), ":")
		isAddress := strings.HasPrefix(head, "address")
		switch {
		case line == "":
			continue
		case isCommand(line), strings.HasPrefix(head, ";"), head == "server", head == "서버":
			below, server = "", head == "server" || head == "서버"
			continue
		case head == "name", head == "이름":
			below, server = host(value), false
			if _, err := netip.ParseAddr(below); err != nil && !hostName.MatchString(below) {
				below = ""
			}
			continue
		case server && isAddress:
			server = false
			continue
		}
		server = false
		read := readWords(line)
		inBlock := isAddress && below != "" // the name behind the address in a block is the address's own
		switch {
		case slices.Contains(read.names, name) && !inBlock:
			below = name
		case len(read.names) > 0 && !inBlock:
			if below = ""; len(read.addresses) > 0 {
				below = read.names[0]
			}
		case below == "" && len(read.others) == 0, read.alone:
			found.Addresses = append(found.Addresses, read.addresses...)
			continue
		case below == "" || len(read.others) > 2 || slices.ContainsFunc(read.others, isNoAnswers):
			continue // prose, or a table: an address among other words
		}
		for _, address := range read.addresses {
			if below == name {
				found.Addresses = append(found.Addresses, address)
			} else {
				found.Others = append(found.Others, OtherAnswer{below, address})
			}
		}
	}
	// What is known as localhost too is no answer: that is a hosts file.
	if slices.ContainsFunc(found.Others, func(o OtherAnswer) bool { return o.Address.IsLoopback() }) {
		found.Addresses, found.Others = nil, nil
	}
	return found
}

// blockInALine is the output of nslookup of which echo $(…) made one line.
var blockInALine = regexp.MustCompile(`(?m)^\s*Server:.*\sAddress.*$`)

var blockField = regexp.MustCompile(`\s(Name|Address(?:es)?(?: \d+)?):`)

var (
	// namelessPing is what ping -4 of iputils prints in the name's place. Where the address
	// was typed, that is printed there.
	namelessPing = regexp.MustCompile(`(?m)^PING +\((\S+)\).*$`)
	// withoutABlank is an address right behind a word and a colon; one in IPv6 is none.
	withoutABlank = regexp.MustCompile(`([g-z]):(\d+\.\d+\.\d+\.\d+)`)
	// noLineEnd is the sign that zsh prints behind what has no line end.
	noLineEnd = regexp.MustCompile(`(?m)(\d)%$`)
)

// onePerLine is the text in letters of one width, with each answer on a line of its own.
func onePerLine(text string) string {
	text = namelessPing.ReplaceAllString(width.Fold.String(text), "$1")
	text = noLineEnd.ReplaceAllString(withoutABlank.ReplaceAllString(text, "$1: $2"), "$1")
	return blockInALine.ReplaceAllStringFunc(text, func(line string) string { return blockField.ReplaceAllString(line, "\n$1:") })
}

// isNoAnswers tells the words beside an address that is not the answer's: a server's, or
// that of a hop on the way, which took some ms.
func isNoAnswers(word string) bool {
	return word == "ms" || strings.Contains(word, "server") || strings.Contains(word, "query") || strings.Contains(word, "response")
}

// lineWords are the parts of one line of a lookup.
type lineWords struct {
	names     []string
	addresses []netip.Addr
	others    []string // the words that are neither, nor a tool's
	alone     bool     // there is nothing but addresses
}

// toolWords are what tools print beside an address that they give without a name. No
// sentence and no table of kubectl is made of them alone.
var toolWords = strings.Fields(`address addresses has in a aaaa answer internet type class ttl
	stream dgram raw addressfamily af_inet af_inet6 socketkind sock_stream sock_dgram sock_raw
	family ipv4 ipv6 inet inet6 err error nil null none undefined string array tcp udp
	trying connect connected connecting connection to port remote host can t telnet wget nc ncat curl
	remote_ip resolv failed refused timed out no route open from`)

var (
	// notInAWord divides a line: blanks, and all that stands around a name or an address.
	notInAWord = regexp.MustCompile(`[\s\[\](){}<>,;|"'=/*@]+`)
	hostName   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.[a-z][a-z0-9-]*$`)
	shortName  = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	aPort      = regexp.MustCompile(`[:#]\d+$`)
)

// readWords takes one line apart. An address behind "from", after another one, is that of
// who asks; one with port 53 is the DNS server's.
func readWords(line string) lineWords {
	words := slices.DeleteFunc(notInAWord.Split(strings.ToLower(line), -1), func(word string) bool { return strings.Trim(word, ".:") == "" })
	read := lineWords{alone: true}
	isAnswer := true
	for i, word := range words {
		word = strings.TrimRight(word, ".:")
		if address, isServer := addressOf(word); address.IsValid() {
			if isAnswer && !isServer && !slices.Contains(read.addresses, address) {
				read.addresses = append(read.addresses, address)
			}
			continue
		}
		isAnswer = isAnswer && (word != "from" || len(read.addresses) == 0)
		bare := aPort.ReplaceAllString(word, "")
		// A name needs no dot where it stands behind the address, and nothing else does: getent.
		isShort := i == 1 && len(words) == 2 && len(read.addresses) == 1 && shortName.MatchString(bare) && !slices.Contains(toolWords, bare)
		if isShort || hostName.MatchString(bare) {
			read.names, read.alone = append(read.names, bare), false
			continue
		}
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if strings.IndexFunc(part, unicode.IsLetter) < 0 {
				continue
			}
			if read.alone = false; !slices.Contains(toolWords, part) {
				read.others = append(read.others, part)
			}
		}
	}
	return read
}

// addressOf reads an address with or without a port, and whether it is one at which a DNS
// server is asked.
func addressOf(word string) (address netip.Addr, isServer bool) {
	if address, err := netip.ParseAddr(word); err == nil {
		return address.Unmap(), false
	}
	if withPort, err := netip.ParseAddrPort(strings.Replace(word, "#", ":", 1)); err == nil {
		return withPort.Addr().Unmap(), withPort.Port() == 53
	}
	return netip.Addr{}, false
}

func host(name string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(name), "."))
}

// complaints are the words of resolvers, C libraries and languages for a name that does not exist.
var complaints = []string{
	"nxdomain", "can't resolve", "could not resolve", "couldn't resolve", "unable to resolve", "cannot resolve", "bad address",
	"name or service not known", "name does not resolve", "no address associated", "unknown host",
	"enotfound", "no such host", "nodename nor servname", "can't find", "resolve call failed",
}

// complaintIn is the line in which a lookup says that there is no such name. That there is
// no address of one kind (busybox asks for IPv6 too) is no such line.
func complaintIn(text string) string {
	for line := range strings.Lines(text) {
		said := strings.ToLower(line)
		if !isCommand(line) && !strings.Contains(said, "no answer") &&
			slices.ContainsFunc(complaints, func(words string) bool { return strings.Contains(said, words) }) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
