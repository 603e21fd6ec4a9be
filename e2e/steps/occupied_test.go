package steps

import (
	"errors"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/fixtures"
)

// A lab that another run holds was not run on, which is no failure of the lab; one
// that was lost in the middle ends the run for that reason.
func TestAnOccupiedLabIsNotRunOn(t *testing.T) {
	t.Parallel()
	pins, err := fixtures.ReadPins()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Course.Plan("")
	if err != nil {
		t.Fatal(err)
	}
	held := types.Report{SpecReports: types.SpecReports{{LeafNodeType: types.NodeTypeBeforeSuite, State: types.SpecStateFailed,
		Failure: types.Failure{Message: "No step was run: another run is on this lab: lab-e2e run, root@vm, process 7"}}}}
	closing := report.Summarize(held, plan.Items(), &preflight.Facts{Occupied: errors.New("another run")}, pins)
	if closing.Exit() != report.ExitNotRun || !strings.Contains(closing.Reason, "process 7") {
		t.Errorf("exit status %d: %s", closing.Exit(), closing.Reason)
	}

	lost := ran(plan)
	lost.SpecReports[3].State, lost.SpecReports[3].Failure = types.SpecStateAborted,
		types.Failure{Message: "the run lost the lab to another one: lab-e2e run, root@vm, process 7. It ended while waiting."}
	closing = report.Summarize(lost, plan.Items(), &preflight.Facts{}, pins)
	if closing.Exit() != report.ExitFailed || !strings.Contains(closing.Reason, "lost the lab to another one: lab-e2e run, root@vm, process 7") {
		t.Errorf("exit status %d: %s", closing.Exit(), closing.Reason)
	}
}
