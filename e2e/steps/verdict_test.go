package steps

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// exits are the exit statuses that README.md promises.
var exits = map[string]int{"passed": 0, "partial": 3, "failed": 1, "not run": 2}

// What a program reads of a run, whole, and the exit status that goes with it.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, of := range runs {
		t.Run(of.name, func(t *testing.T) {
			closing := end(t, of)
			closing.Findings = []preflight.Finding{{Check: "cluster", Message: "https://127.0.0.1:6443 answers"}}
			if closing.Exit() != exits[of.verdict] {
				t.Errorf("a verdict of %s exits %d, not %d", of.verdict, closing.Exit(), exits[of.verdict])
			}
			content, err := json.MarshalIndent(closing.ToVerdict(), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains([]string{"passed", "partial", "failed", "interrupted", "unreachable"}, of.name) {
				golden(t, "verdict-"+of.name+".json", string(content)+"\n")
			}
		})
	}
}

// However one spec of a whole and otherwise perfect run ends, the run is passed
// only if that spec was.
func TestWhatDidNotAllRunIsNeverPassed(t *testing.T) {
	t.Parallel()
	whole := closed{JobSet: "v0.13.0"}
	plan, err := Course.Plan("")
	if err != nil {
		t.Fatal(err)
	}
	for at := range ran(plan).SpecReports {
		for _, state := range []types.SpecState{types.SpecStateSkipped, types.SpecStatePending, types.SpecStateFailed, types.SpecStatePanicked,
			types.SpecStateInterrupted, types.SpecStateAborted, types.SpecStateTimedout, types.SpecStateInvalid} {
			of := whole
			of.change = func(report *types.Report) {
				report.SpecReports[at].State = state
				report.SuiteSucceeded = !state.Is(types.SpecStateFailureStates)
			}
			if closing := end(t, of); closing.Exit() == report.ExitPassed {
				t.Errorf("spec %d %s: %s: %s", at, state, closing.Verdict, closing.Reason)
			}
		}
		of := whole
		of.change = func(report *types.Report) {
			label := report.SpecReports[at].LeafNodeLabels[0]
			report.SpecReports = slices.DeleteFunc(report.SpecReports, func(s types.SpecReport) bool { return s.LeafNodeLabels[0] == label })
		}
		if closing := end(t, of); closing.Exit() == report.ExitPassed {
			t.Errorf("spec %d is not in the report: %s: %s", at, closing.Verdict, closing.Reason)
		}
	}
	if closing := end(t, whole); closing.Exit() != report.ExitPassed {
		t.Errorf("a run in which all passed is %s: %s", closing.Verdict, closing.Reason)
	}
}

// What Ginkgo says in the end outweighs a closing that was made before it.
func TestWhatOverrulesAVerdict(t *testing.T) {
	t.Parallel()
	for verdict, exit := range exits {
		closing, overruled := report.Summary{Verdict: verdict, Reason: "…"}.Reconcile(false)
		if wanted := max(exit%3, 1); closing.Exit() != wanted || overruled != (exit%3 == 0) {
			t.Errorf("%s, and then something failed: %s, exit %d", verdict, closing.Verdict, closing.Exit())
		}
		if closing, overruled = (report.Summary{Verdict: verdict}).Reconcile(true); closing.Exit() != exit || overruled {
			t.Errorf("%s, and nothing failed: %s, exit %d", verdict, closing.Verdict, closing.Exit())
		}
	}
	for _, succeeded := range []bool{true, false} {
		if closing, overruled := (report.Summary{}).Reconcile(succeeded); closing.Exit() != report.ExitFailed || !overruled || closing.Reason == "" {
			t.Errorf("no closing at all: %+v, exit %d", closing, closing.Exit())
		}
	}
}

func TestBeginLeavesNothingOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	settings := settings.Settings{Reports: t.TempDir()}
	earlier := end(t, closed{JobSet: "v0.13.0"})
	if err := report.SaveClosing(settings, earlier); err != nil {
		t.Fatal(err)
	}
	if verdict, err := report.ReadVerdict(settings); err != nil || verdict.Verdict != "passed" {
		t.Fatalf("the earlier verdict is %+v, %v", verdict, err)
	}
	if err := os.WriteFile(report.JUnitReport(settings), []byte("<testsuites/>"), 0o644); err != nil {
		t.Fatal(err)
	}
	reported, err := report.Begin(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer reported()
	left, err := filepath.Glob(filepath.Join(settings.Reports, "*"))
	if err != nil || len(left) != 2 { // the mark of the folder, and the verdict
		t.Errorf("what is left: %q, %v", left, err)
	}
	// This is what there is if the program is killed now.
	if verdict, err := report.ReadVerdict(settings); err != nil || verdict.Verdict != "failed" || verdict.Wanted.JobSet == "" {
		t.Errorf("the verdict of a run that was killed is %+v, %v", verdict, err)
	}
}
