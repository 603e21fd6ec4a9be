package faults

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var (
	quota   = Fault{Name: "quota-2", Caught: Expect{By: "environment check", Code: "QuotaMismatch"}}
	version = Fault{Caught: Expect{By: "verdict", Code: preflight.JobSetVersionMismatch, JobSet: "v0.7.1"}}
	dns     = Fault{Name: "dns-denied", Caught: Expect{By: "step 2", Code: "LookupNoAnswer", Cause: "DNSUnanswered"}}
)

// failedBy is a run whose first failure is by the named spec.
func failedBy(by string, code, cause snapshot.Code, findings ...preflight.Finding) report.Verdict {
	return report.Verdict{Verdict: "failed", Preflight: findings, FirstFailure: &report.FirstFailure{By: by, Code: code, Cause: cause, Message: "in any words"}}
}

func TestAFaultThatIsReportedAsItMustIsCaught(t *testing.T) {
	t.Parallel()
	if wrong := judge(quota, failedBy("environment check", "QuotaMismatch", ""), 5*time.Second); wrong != "" {
		t.Error(wrong)
	}
	if wrong := judge(dns, failedBy("step 2", "LookupNoAnswer", "DNSUnanswered"), 29*time.Second); wrong != "" {
		t.Error(wrong)
	}
	noted := report.Verdict{Verdict: "partial", Found: preflight.Versions{JobSet: "v0.7.1"}, Preflight: []preflight.Finding{
		{Check: "limits", Code: preflight.LimitsPresent, Note: "another"}, {Check: "JobSet", Code: preflight.JobSetVersionMismatch, Note: "partial"}}}
	if wrong := judge(version, noted, time.Second); wrong != "" {
		t.Error(wrong)
	}
	slow := dns
	slow.Within = 60
	if wrong := judge(slow, failedBy("step 2", "LookupNoAnswer", "DNSUnanswered"), 59*time.Second); wrong != "" {
		t.Error(wrong)
	}
}

func TestAFaultThatIsNotReportedAsItMustFails(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]struct {
		fault   Fault
		verdict report.Verdict
		took    time.Duration
		says    string
	}{
		"not caught": {quota, report.Verdict{Verdict: "passed", Reason: "every step passed"}, time.Second, "it was not caught: the verdict of the run is passed"},
		"a partial verdict is no failure": {quota, report.Verdict{Verdict: "partial", Reason: "only step 1"}, time.Second,
			"caught by verdict and not by environment check: only step 1"},
		"by another spec":             {quota, failedBy("step 6", "QuotaMismatch", ""), time.Second, "caught by step 6 and not by environment check: in any words"},
		"the suite could not run":     {quota, report.Verdict{Verdict: "not run", Reason: "nothing listens"}, time.Second, "caught by not run and not by environment check: nothing listens"},
		"another code":                {quota, failedBy("environment check", "NodeCordoned", ""), time.Second, `code "NodeCordoned" and not "QuotaMismatch"`},
		"no code":                     {quota, failedBy("environment check", "", ""), time.Second, `code "" and not "QuotaMismatch"`},
		"another cause":               {dns, failedBy("step 2", "LookupNoAnswer", "JobSetControllerUnavailable"), time.Second, `cause "JobSetControllerUnavailable" and not "DNSUnanswered"`},
		"no cause":                    {dns, failedBy("step 2", "LookupNoAnswer", ""), time.Second, `cause "" and not "DNSUnanswered"`},
		"a cause where there is none": {quota, failedBy("environment check", "QuotaMismatch", "DNSUnanswered"), time.Second, `cause "DNSUnanswered" and not ""`},
		"too late":                    {quota, failedBy("environment check", "QuotaMismatch", ""), 31 * time.Second, "reported too late: after 31.0 s, and it may take 30 s"},
		"another version than the fault's": {version, report.Verdict{Verdict: "partial", Found: preflight.Versions{JobSet: "v0.12.0"},
			Preflight: []preflight.Finding{{Code: preflight.JobSetVersionMismatch, Note: "partial"}}}, time.Second, `JobSet "v0.12.0" and not "v0.7.1"`},
		"partial for another reason": {version,
			report.Verdict{Verdict: "partial", Reason: "only step 1 was asked for"}, time.Second, `code "" and not "JobSetVersionMismatch"`},
	} {
		if wrong := judge(run.fault, run.verdict, run.took); !strings.Contains(wrong, run.says) {
			t.Errorf("%s: %q is not in %q", name, run.says, wrong)
		}
	}
}

func TestOfAnEnvironmentCheckTheFirstWrongFindingIsShown(t *testing.T) {
	t.Parallel()
	found := firstFailure(failedBy("environment check", "QuotaMismatch", "", preflight.Finding{Check: "node", Message: "lab, Ready"},
		preflight.Finding{Check: "ClusterQueue", Code: "QuotaMismatch", Message: "ml has a quota of 2", Fix: "kubectl apply"}))
	if found.message != "ClusterQueue: ml has a quota of 2\nfix: kubectl apply" {
		t.Errorf("%+v", found)
	}
}

func TestAFaultThatIsNotRestoredFailsThoughItWasCaught(t *testing.T) {
	t.Parallel()
	caught := Result{Fault: "quota-2", CaughtBy: "environment check"}
	if r := caught.after(false, nil); r.Wrong != "" {
		t.Errorf("it was caught and restored, and it fails: %s", r.Wrong)
	}
	if r := caught.after(false, errors.New("ClusterQueue ml is not as it was")); r.Wrong != "the lab is not restored: ClusterQueue ml is not as it was" {
		t.Errorf("it is still there, and what is reported is %q", r.Wrong)
	}
	if r := caught.after(true, nil); r.Wrong != "it was interrupted" {
		t.Errorf("it was interrupted, and what is reported is %q", r.Wrong)
	}
	late := Result{Wrong: "it was reported too late"}
	if r := late.after(false, errors.New("x")); r.Wrong != "it was reported too late; the lab is not restored: x" {
		t.Errorf("of two things one is reported: %q", r.Wrong)
	}
}

// What happens after the first failure keeps nobody waiting for the cause.
func TestTheTimeIsThatOfTheFirstFailure(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	run := outcome{began: began, ended: began.Add(time.Minute), verdict: report.Verdict{Verdict: "failed", FirstFailure: &report.FirstFailure{At: began.Add(9 * time.Second)}}}
	if at := run.reported(); at != began.Add(9*time.Second) {
		t.Errorf("a failure was reported at %s", at)
	}
	run.verdict.FirstFailure = nil
	if at := run.reported(); at != run.ended {
		t.Errorf("a run without a failure reported at %s", at)
	}
}

func TestTheTableShowsWhatIsWrongInPlaceOfTheMessage(t *testing.T) {
	t.Parallel()
	text := table([]Result{
		{Fault: "quota-2", CaughtBy: "environment check", Code: "QuotaMismatch", Seconds: 1.25, Message: "ClusterQueue: quota of 2\nfix: kubectl"},
		{Fault: "dns-denied", CaughtBy: "step 2", Code: "LookupNoAnswer", Cause: "DNSUnanswered", Seconds: 12, Message: "Step 2 cannot be done"},
		{Fault: "quota-5", CaughtBy: "step 7", Code: "NotSuspended", Seconds: 40, Message: "big was let in", Wrong: "it was caught by step 7"},
	})
	for _, line := range []string{
		"✓  quota-2     environment check  QuotaMismatch                   1.2      ClusterQueue: quota of 2\n",
		"✓  dns-denied  step 2             LookupNoAnswer (DNSUnanswered)  12.0     Step 2 cannot be done\n",
		"✗  quota-5     step 7             NotSuspended                    40.0     it was caught by step 7\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in:\n%s", line, text)
		}
	}
}
