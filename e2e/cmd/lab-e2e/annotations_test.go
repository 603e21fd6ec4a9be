package main

import (
	"regexp"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/steps"
)

func TestAFailureIsShownBesideTheLinesOfItsStep(t *testing.T) {
	verdict := report.Verdict{Steps: []report.Result{
		{Number: 4, State: report.Passed},
		{Number: 6, State: report.Failed, Code: "PodsNotRunning", Why: "is not passed: 2 of 3,\n::error::no\r%0A"},
		{Number: 7, State: report.Failed, Code: "ApplyRefused", Why: "cannot be done: refused"}}}
	lines := annotations(verdict, steps.Course)
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	for i, wanted := range []string{
		`^::error file=e2e/steps/train\.go,line=2\d,title=step 6 train PodsNotRunning::is not passed: 2 of 3,\\n::error::no\\r%250A$`,
		`^::error file=e2e/steps/big\.go,line=2\d,title=step 7 big ApplyRefused::cannot be done: refused$`} {
		if !regexp.MustCompile(wanted).MatchString(lines[i]) {
			t.Errorf("%s\nis not\n%s", lines[i], wanted)
		}
	}
	if strings.ContainsAny(strings.Join(lines, ""), "\n\r") {
		t.Error("a line's end in it")
	}
	environment := report.Verdict{FirstFailure: &report.FirstFailure{By: report.EnvironmentCheck, Code: "ImageMissing", Message: "This is not the lab.\nmore"}}
	if lines := annotations(environment, steps.Course); len(lines) != 1 || lines[0] != "::error title=environment check ImageMissing::This is not the lab." {
		t.Errorf("%q", lines)
	}
}
