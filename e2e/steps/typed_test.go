package steps

import "gsb.test/jobset-e2e/e2e/snapshot"

// What learners type by hand, copy from a window and append to a file.

// holds is a variation of which a file holds this text.
func holds(file, name, text string) variation {
	return variation{name, func(s *snapshot.Snapshot) { s.Files[file] = text }}
}

// reasonHolds is one of big.txt, with the clause about the worker changed.
func reasonHolds(name, from, to string) variation {
	return variation{name, func(s *snapshot.Snapshot) {
		workersReason(s)
		s.Files["big.txt"] = bigReason(s)
		replace(s, "big.txt", from, to)
	}}
}

var _ = newVariations(2, variations{
	Wrong: []variation{
		{"the IPs of all pods of the Service", func(s *snapshot.Snapshot) { s.Files["dns.txt"] = leaderIP(s) + "\n" + workersIP(s) + "\n" }},
		{"an old answer, and the right one below it", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = "10.244.0.77   " + leaderName + "\n" + leaderIP(s) + "   " + leaderName + "\n"
		}},
		{"ping of the IP, answered by a worker", func(s *snapshot.Snapshot) {
			s.Files["dns.txt"] = "PING  (" + workersIP(s) + ") 56(84) bytes of data.\n"
		}},
		dnsSays("ping of the IP itself", "PING %s (%s) 56(84) bytes of data.\n"),
	},
	Right: []variation{
		dnsSays("ping -4 of iputils, which leaves the name out", "PING  (%s) 56(84) bytes of data.\n64 bytes from %s: icmp_seq=1 ttl=63 time=0.08 ms\n"),
		dnsSays("nslookup in Korean", "서버:    UnKnown\nAddress:  10.96.0.10\n\n권한 없는 응답:\n이름:    FULLNAME\nAddress:  %s\n"),
		dnsSays("the sign of zsh for a missing line end", "vm% dig +short FULLNAME | tr -d '\\n'\n%s%\n"),
	},
})

var _ = newVariations(3, variations{
	Right: []variation{
		{"a numbered list", func(s *snapshot.Snapshot) {
			each(s, "labels.txt", func(key, value string) string { return "2. " + key + "=" + value })
		}},
		{"letters of full width", func(s *snapshot.Snapshot) {
			replace(s, "labels.txt", "=", "＝")
			replace(s, "labels.txt", "＝1", "＝１")
		}},
		{"the sign of zsh for a missing line end", func(s *snapshot.Snapshot) { replace(s, "labels.txt", "=1\n", "=1%\n") }},
	},
})

var _ = newVariations(4, variations{
	Wrong: []variation{
		holds("restart.txt", "one or two", "restarts=1 or 2\n"),
		holds("restart.txt", "one or two, in Korean", "restarts=1 또는 2\n"),
		holds("restart.txt", "two numbers with a comma", "restarts=1,2\n"),
		holds("restart.txt", "the counts of all JobSets", "restarts=1 0 0\n"),
		holds("restart.txt", "a count with a unit", "restarts=1회\n"),
		holds("restart.txt", "half a restart", "restarts=1.5\n"),
	},
	Right: []variation{
		holds("restart.txt", "a sentence with a full stop", "재시작 횟수는 restarts=1.\n"),
		holds("restart.txt", "in brackets", "fragile (restarts=1)\n"),
		holds("restart.txt", "full width", "restarts＝１\n"),
		holds("restart.txt", "the count of before in a comment", "restarts=1 # restarts=0 before\n"),
		holds("restart.txt", "the sign of zsh for a missing line end", "restarts=1%\n"),
		holds("restart.txt", "a time behind it", "restarts=1 2026-12-01 10:30:00\n"),
		holds("restart.txt", "words with a number behind it", "restarts=1 (maxRestarts 2 중 1번)\n"),
	},
})

var _ = newVariations(7, variations{
	Wrong: []variation{
		reasonHolds("another number of full width", "(3)", "（４）"),
	},
	Right: []variation{
		reasonHolds("a capital letter first", "couldn't", "Couldn't"),
		reasonHolds("brackets of full width", "(3)", "（3）"),
	},
})

var _ = newVariations(8, variations{
	Wrong: []variation{
		holds("report.json", "the Workload's name", `{"admitted": ["jobset-train-aaaaa"], "suspended": ["big"], "fragile_restarts": 1}`),
		holds("report.json", "a misspelt name", `{"admitted": ["trian"], "suspended": ["big"], "fragile_restarts": 1}`),
		holds("report.json", "no key", "{}\n"),
		holds("report.json", "full width", `{"admitted": ["train"], "suspended": ["big"], "fragile_restarts": １}`),
	},
})
