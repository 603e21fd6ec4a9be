package report

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

func repeated(verdicts ...Verdict) Repeats {
	repeats := Repeats{Schema: 1, Wanted: len(verdicts)}
	for _, verdict := range verdicts {
		repeats.Add(verdict)
	}
	return repeats
}

var (
	good   = Verdict{Verdict: passed, Seconds: 30}
	partly = Verdict{Verdict: partial, Seconds: 31, Found: preflight.Versions{JobSet: "v0.12.0"}}
	step6  = Verdict{Verdict: Failed, Reason: "step 6 train is not passed", FirstFailure: &FirstFailure{By: "step 6", Message: "a pod waits\n\nand more"}}
	gone   = Verdict{Verdict: notRun, Reason: "nothing listens"}
)

func TestRepeatsOfWhichNoneFails(t *testing.T) {
	repeats := repeated(good, partly, good)
	if repeats.Failed() != 0 || len(repeats.Failures) != 0 || repeats.Found.JobSet != "v0.12.0" {
		t.Errorf("%+v", repeats)
	}
}

func TestWhatSomeRunsFailByIsAFlake(t *testing.T) {
	repeats := repeated(good, step6, good, step6)
	if repeats.Failed() != 2 || len(repeats.Failures) != 1 {
		t.Fatalf("%+v", repeats)
	}
	if flake := repeats.Failures[0]; !flake.Flake || flake.By != "step 6" || flake.Says != "a pod waits" || !slices.Equal(flake.Runs, []int{2, 4}) {
		t.Errorf("%+v", flake)
	}
	if told := repeats.String(); !strings.Contains(told, "a flake: walk 2, 4 failed by step 6: a pod waits") || !strings.Contains(told, "2 of 4") {
		t.Error(told)
	}
}

func TestWhatAllRunsFailByIsBroken(t *testing.T) {
	repeats := repeated(step6, step6)
	if repeats.Failures[0].Flake || !strings.Contains(repeats.String(), "broken: every walk failed by step 6") {
		t.Error(repeats.String())
	}
}

func TestRunsThatWereNotComeToCountAsFailed(t *testing.T) {
	repeats := repeated(good, gone)
	repeats.Wanted = 10
	if repeats.Failed() != 9 || repeats.Runs[1].By != "the run as a whole" {
		t.Errorf("%d failed: %+v", repeats.Failed(), repeats)
	}
}

func TestTheHistoryGrowsAndTheRepeatsDoNot(t *testing.T) {
	settings := settings.Settings{Reports: t.TempDir()}
	for range 2 {
		end, err := BeginRepeats(settings)
		if err != nil {
			t.Fatal(err)
		}
		end()
		if err := SaveRepeats(settings, repeated(good, step6)); err != nil {
			t.Fatal(err)
		}
	}
	read, err := ReadRepeats(settings)
	if err != nil || len(read.Runs) != 2 || read.Failures[0].By != "step 6" {
		t.Errorf("%+v, %v", read, err)
	}
	history, err := os.ReadFile(historyPath(settings))
	if err != nil || bytes.Count(history, []byte("\n")) != 2 {
		t.Errorf("the history is %q, %v", history, err)
	}
}
