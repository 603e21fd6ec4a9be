package steps

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// workloadAs writes big's Workload in one form of output.
func workloadAs(s *snapshot.Snapshot, write func(any) ([]byte, error)) string {
	content, err := write(workload(s, "big"))
	if err != nil {
		panic(err)
	}
	return string(content)
}

// bigReason is Kueue's present message.
func bigReason(s *snapshot.Snapshot) string { return refusedQuota(s, "big").Message }

// workersReason leaves the clause about the worker alone: what Kueue says while train is not there.
func workersReason(s *snapshot.Snapshot) {
	_, refusedQuota(s, "big").Message, _ = strings.Cut(bigReason(s), "; ")
}

func bigAs(name string, write func(s *snapshot.Snapshot) string) variation {
	return variation{name, func(s *snapshot.Snapshot) {
		workersReason(s)
		s.Files["big.txt"] = write(s)
	}}
}

var _ = newVariations(7, variations{
	Wrong: []variation{
		{"the table of kubectl get workloads", func(s *snapshot.Snapshot) {
			s.Files["big.txt"] = "NAME               QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE\njobset-big-aaaaa   lq                                            1m\n"
		}},
		{"train's Workload, -o yaml", func(s *snapshot.Snapshot) {
			content, _ := yaml.Marshal(workload(s, "train"))
			s.Files["big.txt"] = string(content)
		}},
		{"another number in the reason", func(s *snapshot.Snapshot) {
			replace(s, "big.txt", "(3)", "(33)")
			replace(s, "big.txt", "1 more", "11 more")
		}},
		{"the reason cut off", func(s *snapshot.Snapshot) { s.Files["big.txt"] = bigReason(s)[:60] + "…\n" }},
		{"the JobSet's own condition", func(s *snapshot.Snapshot) {
			s.Files["big.txt"] = "type: Suspended\nreason: SuspendedJobs\nmessage: jobset is suspended\n"
		}},
		{"only the command", func(s *snapshot.Snapshot) {
			s.Files["big.txt"] = "$ kubectl -n ml describe workload jobset-big-aaaaa\n"
		}},
	},
	Right: []variation{
		bigAs("-o yaml", func(s *snapshot.Snapshot) string {
			return workloadAs(s, func(w any) ([]byte, error) { return yaml.Marshal(w) })
		}),
		bigAs("-o json", func(s *snapshot.Snapshot) string {
			return workloadAs(s, func(w any) ([]byte, error) { return json.MarshalIndent(w, "", "    ") })
		}),
		bigAs("compact JSON", func(s *snapshot.Snapshot) string { return workloadAs(s, json.Marshal) }),
		bigAs("-o yaml of a transcript, with prompt, colours and CRLF", func(s *snapshot.Snapshot) string {
			text := workloadAs(s, func(w any) ([]byte, error) { return yaml.Marshal(w) })
			return "\x1b[32mroot@vm\x1b[0m:~# kubectl -n ml get workload -o yaml\r\n" + strings.ReplaceAll(text, "\n", "\r\n")
		}),
		bigAs("single quotes, folded", func(s *snapshot.Snapshot) string {
			return "message: '" + strings.ReplaceAll(strings.ReplaceAll(bigReason(s), "'", "''"), " ", "\n  ") + "'\n"
		}),
		bigAs("double quotes, folded", func(s *snapshot.Snapshot) string {
			return "message: \"" + strings.ReplaceAll(bigReason(s), " request", "\\\n  \\ request") + "\"\n"
		}),
		bigAs("a go-template's printf %q", func(s *snapshot.Snapshot) string { return fmt.Sprintf("%q\n", bigReason(s)) }),
		bigAs("a string in JSON in a string in JSON", func(s *snapshot.Snapshot) string {
			inner, _ := json.Marshal(bigReason(s))
			outer, _ := json.Marshal(string(inner))
			return string(outer)
		}),
		bigAs("html of a web terminal", func(s *snapshot.Snapshot) string {
			return strings.NewReplacer("'", "&#39;", ">", "&gt;").Replace(bigReason(s))
		}),
		bigAs("an apostrophe as \\u0027", func(s *snapshot.Snapshot) string {
			return strings.NewReplacer("'", `\u0027`, ">", `\u003E`).Replace(bigReason(s))
		}),
		bigAs("a terminal of 40 columns", func(s *snapshot.Snapshot) string {
			text := bigReason(s)
			return text[:40] + "\n" + text[40:80] + "\n" + text[80:]
		}),
		bigAs("the frame of a full-screen program", func(s *snapshot.Snapshot) string {
			text := bigReason(s)
			return "│ " + text[:40] + " │\n│ " + text[40:80] + " │\n│ " + text[80:] + " │\n"
		}),
		bigAs("kubectl get events", func(s *snapshot.Snapshot) string {
			return "LAST SEEN   TYPE      REASON    OBJECT                      MESSAGE\n1m          Warning   Pending   workload/jobset-big-aaaaa   " + bigReason(s) + "\n"
		}),
		bigAs("custom columns", func(s *snapshot.Snapshot) string { return "NAME   WHY\njobset-big-aaaaa   " + bigReason(s) + "\n" }),
	},
})
