package steps

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// ran is Ginkgo's report of a run in which every spec passed.
func ran(plan lab.Plan) types.Report {
	report := types.Report{SuiteSucceeded: true, RunTime: 98765 * time.Millisecond, StartTime: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)}
	spec := func(label, text string, seconds float64) {
		report.SpecReports = append(report.SpecReports, types.SpecReport{
			LeafNodeType: types.NodeTypeIt, LeafNodeText: text, LeafNodeLabels: []string{label},
			State: types.SpecStatePassed, RunTime: time.Duration(seconds * float64(time.Second)),
		})
	}
	for _, probe := range Course.Probes {
		asked := func(step lab.Step) bool { return step.Number == probe.Step }
		if plan.Whole || slices.ContainsFunc(plan.Asked, asked) {
			spec("claim-"+probe.Name, "claim "+probe.Name, 0.2)
		}
	}
	if plan.Whole {
		for _, mistake := range Course.Mistakes {
			spec("mistake-"+mistake.Name, mistake.Symptom, 12.3)
		}
	}
	for _, step := range plan.First {
		spec(fmt.Sprintf("step-%d", step.Number), "is done first", 4.2)
	}
	for _, step := range plan.Asked {
		for _, text := range []string{"is not passed by doing nothing", "can be done as the text says", "is passed"} {
			spec(fmt.Sprintf("step-%d", step.Number), text, 0.7)
		}
	}
	return report
}

// fails makes the second spec of a step fail and the third one skipped.
func fails(report *types.Report, step int, message string, entries ...types.ReportEntry) {
	report.SuiteSucceeded = false
	label, nth := fmt.Sprintf("step-%d", step), 0
	for i := range report.SpecReports {
		spec := &report.SpecReports[i]
		if spec.LeafNodeLabels[0] != label {
			continue
		}
		switch nth++; nth {
		case 2:
			spec.State, spec.Failure = types.SpecStateFailed, types.Failure{Message: message + "\n\nand more"}
			spec.ReportEntries = entries
		case 3:
			spec.State, spec.Failure, spec.RunTime = types.SpecStateSkipped, types.Failure{Message: fmt.Sprintf("step %d failed", step)}, 0
		}
	}
}

// notRestarted is the failure that a run reports of step 4 where the JobSet
// controller is away.
var notRestarted = report.Failure{Stage: "is not passed", Waited: 9.6,
	Mismatch: matchers.Mismatch{Code: matchers.NotRestarted, Text: snapshot.Text{KO: "JobSet fragile 의 재시작 횟수가 아직 0 입니다.", EN: "JobSet fragile has not restarted yet."}},
	Blocker:  &blockers.Blocker{Code: blockers.BlockedJobSetController, JobSet: "fragile", Message: "the JobSet controller does no work"}}

// skips makes every spec of a step skipped.
func skips(report *types.Report, step int, because string) {
	for i := range report.SpecReports {
		spec := &report.SpecReports[i]
		if spec.LeafNodeLabels[0] == fmt.Sprintf("step-%d", step) {
			spec.State, spec.Failure, spec.RunTime = types.SpecStateSkipped, types.Failure{Message: because}, 0
		}
	}
}

// specOf is the first spec with a label.
func specOf(report *types.Report, label string) *types.SpecReport {
	at := slices.IndexFunc(report.SpecReports, func(spec types.SpecReport) bool { return spec.LeafNodeLabels[0] == label })
	return &report.SpecReports[at]
}

// reports makes a spec one that does not hold and fails nothing.
func reports(run *types.Report, label string, failure report.Failure) {
	spec := specOf(run, label)
	spec.State, spec.Failure = types.SpecStateSkipped, types.Failure{Message: failure.Stage}
	spec.ReportEntries = types.ReportEntries{{Name: report.FailureEntry, Value: types.WrapEntryValue(failure)}}
}

func notAsClaimed(stage string, code snapshot.Code, says string) report.Failure {
	return report.Failure{Stage: stage, Mismatch: matchers.Mismatch{Code: code, Text: snapshot.Text{EN: says}}}
}

// closed is a run, by what of it differs from one in which all was done and passed.
type closed struct {
	name, step, JobSet, verdict string
	change                      func(report *types.Report)
}

var runs = []closed{
	{"passed", "", "v0.13.0", "passed", nil},
	{"partial", "", "v0.12.0", "partial", nil},
	{"one-step", "8", "v0.13.0", "partial", nil},
	{"failed", "", "v0.12.0", "failed", func(report *types.Report) {
		fails(report, 4, "Step 4 fragile «하나가 죽으면 전부 다시 시작한다» is not passed: JobSet fragile has not restarted yet.",
			types.ReportEntry{Name: "failure", Value: types.WrapEntryValue(notRestarted)})
		skips(report, 8, "step 4 failed")
	}},
	{"interrupted", "", "v0.13.0", "failed", func(report *types.Report) {
		report.SuiteSucceeded = false
		for step := 5; step <= 8; step++ {
			skips(report, step, "")
		}
		for i := range report.SpecReports {
			if spec := &report.SpecReports[i]; spec.LeafNodeLabels[0] == "step-5" {
				spec.State, spec.Failure = types.SpecStateAborted, types.Failure{Message: "The run was interrupted while waiting"}
				break
			}
		}
	}},
	{"wrong-cluster", "", "", "failed", func(report *types.Report) {
		report.SuiteSucceeded = false
		report.SpecReports = types.SpecReports{{LeafNodeType: types.NodeTypeBeforeSuite, State: types.SpecStateFailed,
			Failure: types.Failure{Message: "This is not the lab, so no step was run: there is no LocalQueue lq in namespace ml.\n\n ✗ …"}}}
	}},
	{"skipped", "", "v0.13.0", "partial", func(report *types.Report) { skips(report, 3, "told to skip") }},
	{"elsewhere", "", "v0.13.0", "failed", func(report *types.Report) { report.SuiteSucceeded = false }},
	{"unreachable", "", "gone", "not run", func(report *types.Report) {
		report.SuiteSucceeded = false
		report.SpecReports = types.SpecReports{{LeafNodeType: types.NodeTypeBeforeSuite, State: types.SpecStateFailed,
			Failure: types.Failure{Message: "This is not the lab, so no step was run: nothing listens at https://127.0.0.1:6443."}}}
	}},
	{"asked-for-but-skipped", "8", "v0.13.0", "partial", func(report *types.Report) { skips(report, 8, "told to skip") }},
	{"mistake-skipped", "", "v0.13.0", "partial", func(report *types.Report) {
		specOf(report, "mistake-"+Course.Mistakes[0].Name).State = types.SpecStatePending
	}},
	{"claims-refuted", "", "v0.13.0", "passed", func(report *types.Report) {
		reports(report, "claim-jobset-columns", notAsClaimed("is not passed", matchers.RowWrong, "kubectl get shows another value for hello."))
		reports(report, "claim-one-k3s", notAsClaimed("is not about this lab", "ClaimElsewhere", "Node x is kind's."))
		reports(report, "claim-no-search-domain", notAsClaimed("cannot be done", "ProbeUnanswered", "the pod could not be asked"))
		reports(report, "mistake-train-label-on-pod-template", notAsClaimed("is not about this lab", "IntegrationOff", "Kueue's integration pod is off in this lab."))
		reports(report, "mistake-big-each-role-within-quota", notAsClaimed("is not passed", matchers.PodExisted, "JobSet big has had a pod."))
	}},
	{"claim-not-asked", "", "v0.13.0", "partial", func(report *types.Report) {
		specOf(report, "claim-attempt-rises").State = types.SpecStatePending
	}},
	{"claim-panicked", "", "v0.13.0", "failed", func(report *types.Report) {
		report.SuiteSucceeded = false
		spec := specOf(report, "claim-attempt-rises")
		spec.State, spec.Failure = types.SpecStatePanicked, types.Failure{Message: "runtime error: index out of range"}
	}},
	{"panicked", "", "v0.13.0", "failed", func(report *types.Report) {
		fails(report, 5, "runtime error: index out of range")
		for i := range report.SpecReports {
			if report.SpecReports[i].State == types.SpecStateFailed {
				report.SpecReports[i].State = types.SpecStatePanicked
			}
		}
	}},
}

// end closes one of the runs above.
func end(t *testing.T, of closed) report.Summary {
	t.Helper()
	plan, err := Course.Plan(of.step)
	if err != nil {
		t.Fatal(err)
	}
	results := ran(plan)
	if of.change != nil {
		of.change(&results)
	}
	site := &preflight.Facts{Kubernetes: "v1.36.3", JobSet: cluster.Manager{Version: of.JobSet}, Kueue: cluster.Manager{Version: "v0.19.2"}}
	if of.JobSet == "gone" {
		site = &preflight.Facts{Unreachable: errors.New("connection refused")}
	}
	return report.Summarize(results, plan.Items(), site, labtest.Pinned(t))
}

func claimsOfTheText(t *testing.T) fixtures.Claims {
	t.Helper()
	list, err := fixtures.ReadClaims()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestClosing(t *testing.T) {
	t.Parallel()
	for _, of := range runs {
		t.Run(of.name, func(t *testing.T) {
			told := end(t, of)
			if told.Verdict != of.verdict {
				t.Errorf("the verdict is %s, not %s", told.Verdict, of.verdict)
			}
			told.JudgeClaims(claimsOfTheText(t))
			told.Locations = [][]string{{"work directory", "/lab/gsb-jobset"}, {"reports", "/lab/closing.txt"}}
			golden(t, "closing-"+of.name+".txt", told.String()+"\n")
		})
	}
}
