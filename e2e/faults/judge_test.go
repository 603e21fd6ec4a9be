package faults

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
)

var quota = Fault{Name: "quota-2", Caught: Expect{By: "preflight", Words: []string{"quota of 2", "kubectl apply"}}}

// failedBy is a run whose first failure is by the named spec.
func failedBy(by, message string, findings ...preflight.Finding) report.Verdict {
	return report.Verdict{Verdict: "failed", Preflight: findings, FirstFailure: &report.FirstFailure{By: by, Message: message}}
}

var quotaFound = preflight.Finding{Check: "ClusterQueue", Message: "ml has a quota of 2", Fix: "kubectl apply -f lab.yaml"}

func TestAFaultThatIsToldAsItMustIsCaught(t *testing.T) {
	right := preflight.Finding{Check: "node", Message: "Ready"}
	if wrong := judge(quota, failedBy("preflight", "This is not the lab", right, quotaFound), 5*time.Second); wrong != "" {
		t.Error(wrong)
	}
	step := Fault{Caught: Expect{By: "step 2", Words: []string{"no DNS server"}}}
	if wrong := judge(step, failedBy("step 2", "Step 2 cannot be done.\nno DNS server answers"), 29*time.Second); wrong != "" {
		t.Error(wrong)
	}
	version := Fault{Caught: Expect{By: "verdict", Words: []string{"v0.7.1"}}}
	if wrong := judge(version, report.Verdict{Verdict: "partial", Reason: "JobSet is v0.7.1"}, time.Second); wrong != "" {
		t.Error(wrong)
	}
	slow := step
	slow.Within = 60
	if wrong := judge(slow, failedBy("step 2", "no DNS server answers"), 59*time.Second); wrong != "" {
		t.Error(wrong)
	}
}

func TestAFaultThatIsNotToldAsItMustFails(t *testing.T) {
	for name, run := range map[string]struct {
		verdict report.Verdict
		took    time.Duration
		says    string
	}{
		"not caught": {report.Verdict{Verdict: "passed", Reason: "every step passed"}, time.Second, "it was not caught: the verdict of the run is passed"},
		"a partial verdict is no failure": {report.Verdict{Verdict: "partial", Reason: "quota of 2, kubectl apply"}, time.Second,
			"caught by verdict and not by preflight"},
		"by another spec":          {failedBy("step 6", "quota of 2, kubectl apply"), time.Second, "caught by step 6 and not by preflight: quota of 2"},
		"the suite could not run":  {report.Verdict{Verdict: "not run", Reason: "nothing listens"}, time.Second, "caught by not run and not by preflight: nothing listens"},
		"in other words":           {failedBy("preflight", "", preflight.Finding{Message: "ml has a quota of 5", Fix: "kubectl apply"}), time.Second, `"quota of 2" is missing`},
		"without the mend":         {failedBy("preflight", "", preflight.Finding{Message: "ml has a quota of 2", Fix: "look"}), time.Second, `"kubectl apply" is missing`},
		"too late":                 {failedBy("preflight", "", quotaFound), 31 * time.Second, "told too late: after 31.0 s, and it may take 30 s"},
		"another cause told first": {failedBy("preflight", "quota of 2, kubectl apply", preflight.Finding{Message: "the node is cordoned", Fix: "kubectl uncordon"}, quotaFound), time.Second, `"quota of 2" is missing in: : the node is cordoned`},
		"words that stand beside it for what is right": {failedBy("preflight", "quota of 2, kubectl apply", preflight.Finding{Message: "quota of 2, kubectl apply"},
			preflight.Finding{Message: "the node is cordoned", Fix: "kubectl uncordon"}), time.Second, "told in other words"},
	} {
		if wrong := judge(quota, run.verdict, run.took); !strings.Contains(wrong, run.says) {
			t.Errorf("%s: %q is not in %q", name, run.says, wrong)
		}
	}
}

func TestAFaultThatIsNotMendedFailsThoughItWasCaught(t *testing.T) {
	caught := Result{Fault: "quota-2", CaughtBy: "preflight"}
	if r := caught.after(false, nil); r.Wrong != "" {
		t.Errorf("it was caught and mended, and it fails: %s", r.Wrong)
	}
	if r := caught.after(false, errors.New("ClusterQueue ml is not as it was")); r.Wrong != "the lab is not mended: ClusterQueue ml is not as it was" {
		t.Errorf("it is still there, and what is told is %q", r.Wrong)
	}
	if r := caught.after(true, nil); r.Wrong != "it was interrupted" {
		t.Errorf("it was interrupted, and what is told is %q", r.Wrong)
	}
	late := Result{Wrong: "it was told too late"}
	if r := late.after(false, errors.New("x")); r.Wrong != "it was told too late; the lab is not mended: x" {
		t.Errorf("of two things one is told: %q", r.Wrong)
	}
}

func TestTheTableShowsWhatIsWrongInPlaceOfTheMessage(t *testing.T) {
	text := table([]Result{
		{Fault: "quota-2", CaughtBy: "preflight", Seconds: 1.25, Message: "ClusterQueue: quota of 2\nmend: kubectl"},
		{Fault: "quota-5", CaughtBy: "step 7", Seconds: 40, Message: "big was let in", Wrong: "it was caught by step 7"},
	})
	for _, line := range []string{"✓  quota-2  preflight  1.2      ClusterQueue: quota of 2\n", "✗  quota-5  step 7     40.0     it was caught by step 7\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in:\n%s", line, text)
		}
	}
}
