package page

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// keepPages is where .ci/screenshots wants the pages that these tests make.
var keepPages = flag.String("pages", "", "keep the pages of every kind of run in this folder")

var began = time.Date(2026, 12, 1, 0, 17, 0, 0, time.UTC)

// solved is the recording of a real run, with what recordings of then did not keep.
func solved(t testing.TB) *snapshot.Snapshot {
	t.Helper()
	content, err := os.ReadFile("../../steps/testdata/solved.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.ParseSnapshot(content)
	if err != nil {
		t.Fatal(err)
	}
	gpus := map[string]int64{"train": 3, "big": 5}
	for i := range s.Seen.Objects {
		object := &s.Seen.Objects[i]
		switch object.Kind {
		case "Workload":
			object.GPUs = gpus[object.JobSet]
		case "Pod":
			object.Devices = s.Devices[object.Name]
		}
	}
	s.Seen.Since = began
	return s
}

// steps are the course as a verdict tells of it, and the JobSet with which each begins.
var steps = []struct{ name, title, jobSet string }{
	{"hello", "리더 하나, 워커 둘", "hello"}, {"dns", "워커는 리더를 이름으로 찾는다", ""}, {"labels", "파드에 붙은 JobSet 의 좌표", ""},
	{"fragile", "하나가 죽으면 전부 다시 시작한다", "fragile"}, {"eval", "리더가 끝나면 전체가 끝난다", "eval"},
	{"train", "큐에 넣으면 한 덩어리로 입장한다", "train"}, {"big", "쿼터를 넘으면 한 파드도 뜨지 않는다", "big"}, {"report", "어느 JobSet 이 어떤 상태인가", ""},
}

// A fakeRun is a folder of reports being made.
type fakeRun struct {
	t        testing.TB
	settings settings.Settings
	verdict  report.Verdict
	specs    types.Report
	seen     *snapshot.Snapshot
	ends     float64
}

// passedRun is a run in which every step passed, on the recording's own times.
func passedRun(t testing.TB, kind string) *fakeRun {
	t.Helper()
	r := &fakeRun{t: t, settings: settings.Settings{Reports: t.TempDir()}, seen: solved(t)}
	if *keepPages != "" {
		r.settings.Reports = filepath.Join(*keepPages, kind)
		if err := os.MkdirAll(r.settings.Reports, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range r.seen.Seen.Objects {
		for _, moment := range object.Transitions {
			r.ends = max(r.ends, moment.At+4)
		}
	}
	r.verdict = report.Verdict{Schema: 2, Run: "20261201-001700-abcde", Verdict: "passed", Reason: "every step was done and passed, on the versions that the lab pins",
		Suite: "0123456789abcdef", Started: began, Seconds: r.ends, Wanted: preflight.Versions{JobSet: "v0.13.0", Kueue: "v0.19.2"},
		Found:     preflight.Versions{Kubernetes: "v1.36.3", JobSet: "v0.13.0", Kueue: "v0.19.2"},
		Preflight: []preflight.Finding{{Check: "cluster", Message: "Kubernetes v1.36.3 at https://127.0.0.1:40605"}, {Check: "GPUs", Message: "4 × nvidia.com/gpu allocatable, for a quota of 3"}},
		Mistakes:  []report.Result{{Number: 6, Name: "train-label-on-pod-template", Title: "Kueue admits each pod alone and knows of no Workload of the JobSet", State: "passed", Seconds: 6.8}}}
	list, err := fixtures.ReadClaims()
	r.must(err)
	claims := report.Summary{Findings: r.verdict.Preflight}
	claims.JudgeClaims(list)
	r.verdict.Claims = claims.Claims
	r.specs = types.Report{StartTime: began, RunTime: time.Duration(r.ends * float64(time.Second))}
	for i, step := range steps {
		from, to := r.stepTimes(i)
		r.verdict.Steps = append(r.verdict.Steps, report.Result{Number: i + 1, Name: step.name, Title: step.title, State: "passed", Seconds: to - from})
		r.addSpecs(i, from, to)
	}
	return r
}

// stepTimes are when a step ran, by when its JobSet was first seen and the next one's was.
func (r *fakeRun) stepTimes(i int) (from, to float64) {
	at := func(jobSet string) float64 {
		for _, object := range r.seen.Seen.Objects {
			if object.Kind == "JobSet" && object.Name == jobSet {
				return object.Transitions[0].At
			}
		}
		return r.ends
	}
	marks := []float64{at("hello") - 0.1, at("fragile") - 0.5, at("fragile") - 0.3, at("fragile") - 0.1, at("eval") - 0.1, at("train") - 0.1, at("big") - 0.1, r.ends - 0.3, r.ends}
	return marks[i], marks[i+1] - 0.05
}

func (r *fakeRun) addSpecs(i int, from, to float64) {
	label := fmt.Sprintf("step-%d", i+1)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	for n, text := range []string{"is not passed by doing nothing", "can be done as the text says", "is passed"} {
		spec := types.SpecReport{LeafNodeType: types.NodeTypeIt, LeafNodeText: text, LeafNodeLabels: []string{label}, State: types.SpecStatePassed,
			StartTime: at(from + (to-from)*float64(n)/3), EndTime: at(from + (to-from)*float64(n+1)/3), RunTime: time.Duration((to - from) / 3 * 1e9)}
		if n == 1 && steps[i].jobSet != "" {
			spec.StartTime = at(from)
			spec.SpecEvents = types.SpecEvents{{SpecEventType: types.SpecEventByStart, Message: "kubectl apply -f " + steps[i].jobSet + ".yaml", TimelineLocation: types.TimelineLocation{Time: at(from + 0.05)}},
				{SpecEventType: types.SpecEventByStart, Message: "wait for JobSet " + steps[i].jobSet, TimelineLocation: types.TimelineLocation{Time: at(from + 0.2)}}}
		}
		if n == 2 {
			files := map[string][]string{"fragile": {"restart.txt"}, "labels": {"labels.txt"}, "dns": {"dns.txt"}, "hello": {"hello.yaml"}, "big": {"big.txt"}, "report": {"report.json"}, "train": {"train.yaml"}}
			r.attach(&spec, seenEntry, SeenOf(r.seen, []string{steps[i].jobSet}, files[steps[i].name], judgeRestarts))
		}
		r.specs.SpecReports = append(r.specs.SpecReports, spec)
	}
}

// judgeRestarts stands for a step's check: it reads one line of one file.
func judgeRestarts(s *snapshot.Snapshot) []*matchers.Mismatch {
	if strings.Contains(s.Files["restart.txt"], "restarts=") {
		return nil
	}
	return []*matchers.Mismatch{matchers.NewMismatch("RestartsMissing", snapshot.TextOf("없습니다.", "There is none."))}
}

func (r *fakeRun) attach(spec *types.SpecReport, name string, value any) {
	spec.ReportEntries = append(spec.ReportEntries, types.ReportEntry{Name: name, Value: types.WrapEntryValue(value)})
}

// fails makes step 6 fail, so that step 8 is not run.
func (r *fakeRun) fails(failure report.Failure, message string) {
	const number = 6
	code := failure.Code
	r.verdict.Verdict, r.verdict.Reason = "failed", fmt.Sprintf("step %d %s is not passed: %s", number, steps[number-1].name, failure.EN)
	step := &r.verdict.Steps[number-1]
	step.State, step.Code, step.Why = "failed", code, "is not passed: "+failure.EN
	r.verdict.FirstFailure = &report.FirstFailure{By: fmt.Sprintf("step %d", number), Spec: "is passed", At: began.Add(20 * time.Second), Code: code, Message: message}
	if failure.Blocker != nil {
		r.verdict.FirstFailure.Cause = failure.Blocker.Code
	}
	spec := &r.specs.SpecReports[number*3-1]
	spec.State = types.SpecStateFailed
	r.attach(spec, report.FailureEntry, failure)
	r.verdict.Steps[7].State, r.verdict.Steps[7].Why, r.verdict.Steps[7].Seconds = "not run", "step 6 failed", 0
	folder := filepath.Join(r.settings.EvidenceDir(), fmt.Sprintf("step%d-%s", number, steps[number-1].name), "pods")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "train-leader-0-0-aaaaa-leader.log"), []byte("rank 0 of 3 waits for the others\n"), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// imageMissing is the failure of a worker whose image cannot be pulled.
func imageMissing() report.Failure {
	return report.Failure{Stage: report.NotPassed,
		Mismatch: matchers.Mismatch{Code: "PodsNotRunning", Text: snapshot.Text{KO: "JobSet train 의 파드 3개 중 2개가 Running 입니다. 모두 Running 이어야 합니다.",
			EN: "JobSet train has 2 of 3 pods Running; all should be (pod train-worker-0-1-aaaaa: ImagePullBackOff)."},
			Rows: []snapshot.Row{{What: "pods Running and Ready", Wanted: "3", Found: "2"},
				{What: "train-worker-0-1-aaaaa", Wanted: "Running, Ready, never restarted", Found: `ImagePullBackOff: Back-off pulling image "busybox:1.35.0"`}}},
		Others:  []*matchers.Mismatch{matchers.NewMismatch("DevicesNotSeen", snapshot.TextOf("파드 train-worker-0-1 의 GPU 를 볼 수 없습니다.", "The GPU of pod train-worker-0-1 cannot be seen."))},
		Blocker: &blockers.Blocker{Code: "ImagePull", JobSet: "train", Message: "for 21 s already pod train-worker-0-1-aaaaa cannot pull its image"},
		Waited:  21.4,
		Words: [][]string{{"Workload jobset-train-aaaaa", "Admitted=True", "Admitted: The workload is admitted"},
			{"event on Pod train-worker-0-1-aaaaa", "Failed", `Failed to pull image "busybox:1.35.0": not found`}}}
}

// write leaves the reports and makes the page, as the suite does.
func (r *fakeRun) write() string {
	r.t.Helper()
	if r.specs.SpecReports != nil {
		t := newTimeline(began, r.ends, []snapshot.History{r.seen.Seen}, [][]snapshot.Event{r.seen.Events})
		t.addSpecs(r.specs.SpecReports)
		t.Lab, t.Host, t.Quota, t.Devices = "https://127.0.0.1:40605", "runner-7", 3, 4
		r.must(t.save(r.settings.Reports))
		r.save("specs.json", []types.Report{r.specs})
	}
	r.save("verdict.json", r.verdict)
	r.must(Write(r.settings))
	content, err := os.ReadFile(filepath.Join(r.settings.Reports, Name))
	r.must(err)
	return string(content)
}

func (r *fakeRun) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *fakeRun) save(name string, value any) {
	content, err := json.Marshal(value)
	r.must(err)
	r.must(os.WriteFile(filepath.Join(r.settings.Reports, name), content, 0o644))
}

// cut ends a run early: what was seen later was never seen.
func (r *fakeRun) cut(at float64) {
	for i := range r.seen.Seen.Objects {
		object := &r.seen.Seen.Objects[i]
		object.Transitions = slices.DeleteFunc(object.Transitions, func(t snapshot.Transition) bool { return t.At > at })
	}
	r.seen.Seen.Objects = slices.DeleteFunc(r.seen.Seen.Objects, func(o snapshot.ObjectHistory) bool { return len(o.Transitions) == 0 })
	r.ends = at
	r.verdict.Seconds = at
	kept := r.specs.SpecReports[:0]
	for _, spec := range r.specs.SpecReports {
		if spec.StartTime.After(began.Add(time.Duration(at * float64(time.Second)))) {
			continue
		}
		if end := began.Add(time.Duration(at * float64(time.Second))); spec.EndTime.After(end) {
			spec.EndTime, spec.State = end, types.SpecStateAborted
		}
		kept = append(kept, spec)
	}
	r.specs.SpecReports = kept
}
