package page

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// kinds are the kinds of runs that a page is made of.
func kinds(t testing.TB) map[string]string {
	pages := map[string]string{}
	passed := passedRun(t, "passed")
	for i := range 9 {
		past := passed.verdict
		past.Run, past.Started = fmt.Sprintf("run-%d", i), began.Add(time.Duration(i-9)*24*time.Hour)
		past.Steps = append([]report.Result(nil), past.Steps...)
		if i == 5 {
			past.Verdict, past.Steps[3].State, past.Steps[3].Code = "failed", "failed", "PodsOfOldAttempt"
		}
		passed.must(Remember(passed.settings.Reports, past))
	}
	pages["passed"] = passed.write()

	partial := passedRun(t, "partial")
	partial.verdict.Verdict, partial.verdict.Reason = "partial", "every step passed, but JobSet is v0.12.0, the lab pins v0.13.0"
	partial.verdict.Found.JobSet = "v0.12.0"
	pages["partial"] = partial.write()

	failed := passedRun(t, "failed")
	failed.fails(imageMissing(), "Step 6 train «큐에 넣으면 한 덩어리로 입장한다» is not passed: JobSet train has 2 of 3 pods Running.\n\nand more")
	pages["failed"] = failed.write()

	interrupted := passedRun(t, "interrupted")
	interrupted.verdict.Verdict, interrupted.verdict.Reason = "failed", "the run was interrupted"
	from, _ := interrupted.stepTimes(3)
	interrupted.cut(from + 4)
	for i := 3; i < 8; i++ {
		step := &interrupted.verdict.Steps[i]
		step.State, step.Why, step.Seconds = "not run", map[bool]string{true: "interrupted", false: "the run ended before it"}[i == 3], 0
	}
	pages["interrupted"] = interrupted.write()

	refused := passedRun(t, "refused")
	refused.specs.SpecReports = nil
	refused.verdict = report.Verdict{Schema: 2, Verdict: "not run", Suite: "0123456789abcdef", Started: began, Wanted: preflight.Versions{JobSet: "v0.13.0", Kueue: "v0.19.2"},
		Reason: "LAB_KUBECONFIG names a file that cannot be read: stat /nowhere: no such file or directory.\n  To make a lab: make up steps"}
	pages["refused"] = refused.write()
	pages["hostile"] = hostile(t).write()
	return pages
}

// attack is what a learner may write anywhere.
const attack = `"'><script>window.attacked=1</script><img src=x onerror=attacked=1><svg onload=attacked=1></title></style></pre></textarea>{{.}}` +
	"\x1b[2J\x00\u202e<!--"

// hostile is a run in which whatever others write is an attack.
func hostile(t testing.TB) *fakeRun {
	r := passedRun(t, "hostile")
	for name := range r.seen.Files {
		r.seen.Files[name] = attack + "\n" + strings.Repeat("<", 200<<10) + "\n" + strings.Repeat("x\n", 500)
	}
	for i := range r.seen.Events {
		r.seen.Events[i].Message, r.seen.Events[i].Reason = attack+strings.Repeat("W", 3000), "R"+attack
	}
	for i := range r.seen.JobSets {
		r.seen.JobSets[i].Annotations = map[string]string{"learner": attack + strings.Repeat("y", 200<<10)}
	}
	for i := range r.seen.Seen.Objects {
		for j := range r.seen.Seen.Objects[i].Transitions {
			r.seen.Seen.Objects[i].Transitions[j].Text = attack + strings.Repeat("T", 3000)
		}
	}
	for i := range steps {
		from, to := r.stepTimes(i)
		r.specs.SpecReports = r.specs.SpecReports[3:]
		r.addSpecs(i, from, to)
	}
	r.verdict.Claims[0].State, r.verdict.Claims[0].Why = "refuted", &snapshot.Text{KO: attack, EN: attack + strings.Repeat("C", 9000)}
	failure := imageMissing()
	failure.Text = snapshot.Text{KO: attack, EN: attack + strings.Repeat("W", 9000)}
	failure.Rows[0].Found = attack + strings.Repeat("z", 9000)
	failure.Words = [][]string{{attack, attack, strings.Repeat("long ", 2000)}}
	r.fails(failure, attack+strings.Repeat("<", 900<<10))
	r.verdict.Reason = attack + strings.Repeat("R", 5000)
	return r
}

func TestEveryKindOfRunHasAPage(t *testing.T) {
	for kind, html := range kinds(t) {
		if len(html) > 1<<20 {
			t.Errorf("%s: the page is %d KB", kind, len(html)>>10)
		}
		for _, loads := range regexp.MustCompile(`(?i)<(?:link|script|img|iframe|object|embed|use|image)\b[^>]*?\b(?:href|src)\s*=\s*"([^"]*)"|@import|url\(([^)]*)\)`).FindAllStringSubmatch(html, -1) {
			if loads[1] != "data:," && !strings.HasPrefix(loads[2], "#") {
				t.Errorf("%s: it loads something: %s", kind, loads[0])
			}
		}
		if regexp.MustCompile(`\s(?:style|on\w+)="`).MatchString(strings.ReplaceAll(html, "&#34;", "")) {
			t.Errorf("%s: an attribute that the policy forbids", kind)
		}
		if kind != "hostile" && strings.Count(html, "<section") < 2 {
			t.Errorf("%s: it says too little", kind)
		}
	}
}

func TestAVerdictComesFirst(t *testing.T) {
	pages := kinds(t)
	for kind, words := range map[string][]string{
		"passed":      {">통과<", ">passed<", "v0.13.0", "불안정", "PodsOfOldAttempt", "실습 글의 주장", "k3s, of one node"},
		"partial":     {">부분 통과<", "every step passed, but JobSet is v0.12.0", "pinned", "make gate"},
		"failed":      {"JobSet train 의 파드 3개 중 2개가", "2 of 3 pods Running", "ImagePullBackOff", "cannot pull its image", "Failed to pull image", "rank 0 of 3 waits", "STEP=6", "PodsNotRunning"},
		"interrupted": {"the run was interrupted", "그 전에 실행이 끝남"},
		"refused":     {"실행 안 됨", "LAB_KUBECONFIG names a file"},
	} {
		for _, word := range words {
			if kind == "partial" && word == "make gate" {
				word = "PASSED"
			}
			if !strings.Contains(pages[kind], word) {
				t.Errorf("%s does not say %q", kind, word)
			}
		}
	}
	if strings.Contains(pages["refused"], `id="timeline"`) {
		t.Error("a run that did not begin has a timeline")
	}
}

func TestWhatOthersWriteIsOnlyShown(t *testing.T) {
	html := hostile(t).write()
	if at := regexp.MustCompile(`(?i)<script>window|<img|<svg onload|\x1b|\x00|\x{202e}`).FindStringIndex(html); at != nil {
		t.Errorf("it is more than shown: %q", html[max(0, at[0]-200):at[1]])
	}
	if n := strings.Count(html, "<script"); n != 1 {
		t.Errorf("%d scripts, one is ours", n)
	}
	if !strings.Contains(html, "window.attacked=1") {
		t.Error("it is not shown at all")
	}
	for line := range strings.Lines(html) {
		if len(line) > 120<<10 {
			t.Errorf("a line of %d KB: %.80s", len(line)>>10, line)
		}
	}
}

func TestThePageHoldsNoSecret(t *testing.T) {
	const planted = "PLANTEDabcdefghijklmnopqrstuvwxyz"
	jwt := "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0." + planted
	secret := "token: " + planted + " Authorization: Bearer " + planted + " " + jwt + " client-key-data: " + planted + " AWS_SECRET_ACCESS_KEY=" + planted
	r := passedRun(t, "secrets")
	for name := range r.seen.Files {
		r.seen.Files[name] = secret
	}
	for i := range r.seen.Events {
		r.seen.Events[i].Message = secret
	}
	r.specs.SpecReports = nil
	for i := range steps {
		from, to := r.stepTimes(i)
		r.addSpecs(i, from, to)
	}
	failure := imageMissing()
	failure.EN, failure.Words = secret, [][]string{{secret}}
	failure.Rows[0].Found = secret
	r.fails(failure, secret)
	r.must(os.WriteFile(filepath.Join(r.settings.EvidenceDir(), "step6-train", "pods", "x.log"), []byte(secret), 0o644))
	html := r.write()
	if at := strings.Index(html, planted); at >= 0 {
		t.Errorf("a secret is on the page: …%s…", html[max(0, at-200):at+40])
	}
	timeline, err := os.ReadFile(filepath.Join(r.settings.Reports, timelineName))
	if err != nil || strings.Contains(string(timeline), planted) {
		t.Errorf("a secret is in the timeline (%v)", err)
	}
}

// spent is the CPU time of this process until now.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestThePageIsMadeQuickly(t *testing.T) {
	for _, r := range []*fakeRun{passedRun(t, "quick"), hostile(t)} {
		r.write()
		// In CPU time: what else the machine does is not the page's cost.
		quickest := time.Hour
		for range 8 {
			before := spent(t)
			r.must(Write(r.settings))
			quickest = min(quickest, spent(t)-before)
		}
		t.Logf("it takes %s", quickest)
		if quickest > 300*time.Millisecond {
			t.Errorf("it took %s", quickest)
		}
	}
}

func TestTheTraceIsReadBackAsItWas(t *testing.T) {
	r := passedRun(t, "trace")
	r.write()
	before, err := readTimeline(r.settings.Reports)
	r.must(err)
	r.must(before.save(r.settings.Reports))
	after, err := readTimeline(r.settings.Reports)
	r.must(err)
	if fmt.Sprint(before) != fmt.Sprint(after) || len(after.Lanes) < 25 || len(after.Spans) != 8 {
		t.Errorf("%d lanes and %d spans", len(after.Lanes), len(after.Spans))
	}
}

func TestTwoRunsAreCompared(t *testing.T) {
	before, after := passedRun(t, "compared-before"), passedRun(t, "compared-after")
	after.verdict.Found.Kueue = "v0.20.0"
	after.verdict.Steps[4].Seconds += 20
	after.fails(imageMissing(), "Step 6 failed")
	before.write()
	after.write()
	html, err := Compare(before.settings.Reports, after.settings.Reports)
	before.must(err)
	if *keepPages != "" {
		before.must(os.WriteFile(filepath.Join(after.settings.Reports, "compare.html"), html, 0o644))
	}
	for _, words := range []string{"v0.20.0", "New failures", "fails now", "PodsNotRunning", "&#43;20.0 s", `aria-label="Run A"`, `aria-label="Run B"`} {
		if !strings.Contains(string(html), words) {
			t.Errorf("it does not say %q", words)
		}
	}
	same, err := Compare(before.settings.Reports, before.settings.Reports)
	before.must(err)
	if strings.Contains(string(same), "fails now") || !strings.Contains(string(same), "Nothing new fails") {
		t.Error("a run differs from itself")
	}
}
