package grade

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// hostile are values that a terminal, a report or a reader would take for something else.
var hostile = []string{
	strings.Repeat("\x80", 5000),
	"\x1b[2J\x1b[31mPASSED", "over\rwritten", "bell\a\b\x7f", "\u202etxt.exe", "a\u200bb\ufeff", "two\nlines", "\x9b31m", "\xff\xfe", "]]>&<",
	strings.Repeat("가", 3000), strings.Repeat("x", 300_000), "한국어 text — as it is…", "\u2028\u2029\u00a0\u2066", "\x00",
}

func TestWhatDoesNotShowIsWrittenOut(t *testing.T) {
	t.Parallel()
	for out, wanted := range map[string]string{
		"\x1b[31mred\x1b[0m": `\x1b[31mred\x1b[0m`, "a\rb": `a\rb`, "\a": `\a`, "\u202e": `\u202e`, "\u200b": `\u200b`, "\xff": `\xff`,
		"두 줄\nand\ttab": "두 줄\nand\ttab", "✓ «plain» …": "✓ «plain» …", "\ufffd": "\ufffd",
	} {
		if got := text.Visible(out); got != wanted {
			t.Errorf("%q is shown as %q", out, got)
		}
	}
	if got := text.Shown("a\nb\tc", 10); got != `a\nb\tc` {
		t.Errorf("a value of two lines is shown as %q", got)
	}
	if got := text.Shown(strings.Repeat("가", 1000), 5); got != "가가가가가…" {
		t.Errorf("a long value is shown as %q", got)
	}
}

// FuzzWhatLeaves puts a value wherever a learner or a cluster can put one, and
// requires that every rendering of it is safe, and short.
func FuzzWhatLeaves(f *testing.F) {
	for _, value := range hostile {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		refusal := matchers.NewMismatch(matchers.KeyUnexpected, snapshot.TextOf("%s 파일의 키 %s", "The file %s, the key %s", "labels.txt", value)).
			Row(value, value, value)
		s := &snapshot.Snapshot{Namespace: "ml", Files: map[string]string{"labels.txt": value}}
		s.Pods = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: value, Labels: map[string]string{"jobset.sigs.k8s.io/jobset-name": "hello"}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Message: value}}}
		story := report.FailureReport{Subject: "Step 1", Failure: report.Failure{Stage: report.NotPassed, Mismatch: *refusal, Blocker: &blockers.Blocker{Message: value}}, JobSets: []string{"hello"}, Files: []string{"labels.txt"}, Snapshot: s, Evidence: value}.String()
		grading := Grading{WorkDir: value, Cluster: value, Steps: []Grade{{Step: 1, Name: "hello", Text: refusal.Text, Notes: []snapshot.Text{refusal.Text}}}}
		closing := report.Summary{Steps: []report.Result{{Number: 1, Name: "hello", State: report.Failed, Why: refusal.EN}}, Verdict: report.Failed, Reason: value, Locations: [][]string{{"reports", value}}}
		wrong := preflight.Blocking([]preflight.Finding{{Check: "cluster", Message: value, Fix: value, Note: value}})
		file := snapshot.File{Name: "labels.txt", Text: snapshot.Plain(value), Written: true}
		for what, out := range map[string]string{
			"a story": story, "a grading": grading.String(), "the closing": closing.String(), "a wrong world": wrong,
			"Korean": refusal.KO, "English": refusal.EN, "a quotation": file.Quote(),
		} {
			if at := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }); at >= 0 || !utf8.ValidString(out) {
				t.Errorf("%s of %q holds at %d what is not shown", what, value, at)
			}
			if what != "a wrong world" && what != "the closing" && what != "a grading" && len([]rune(out)) > 10*text.LongestCell {
				t.Errorf("%s of a long value is %d runes long", what, len([]rune(out)))
			}
		}
		for what, out := range map[string]string{"Korean": refusal.KO, "English": refusal.EN} {
			if strings.Contains(out, "\n") || len([]rune(out)) > text.LongestValue+100 {
				t.Errorf("%s of %q is %d runes of more than one line", what, value, len([]rune(out)))
			}
		}
		if content, err := json.Marshal(grading); err != nil || !json.Valid(content) {
			t.Errorf("the grading's JSON: %v", err)
		}
		junitIsWellFormed(t, story)
	})
}

// junitIsWellFormed has Ginkgo write a failure's message as JUnit, and reads that.
func junitIsWellFormed(t *testing.T, message string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junit.xml")
	report := types.Report{SpecReports: types.SpecReports{{LeafNodeType: types.NodeTypeIt, State: types.SpecStateFailed, Failure: types.Failure{Message: message}}}}
	if err := reporters.GenerateJUnitReport(report, path); err != nil {
		t.Fatal(err)
	}
	content, unread := files.ReadFile(path)
	if unread != nil {
		return // too long for this test's way of reading
	}
	for decoder := xml.NewDecoder(bytes.NewReader(content)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the JUnit report of %q: %v", message, err)
		}
	}
}
