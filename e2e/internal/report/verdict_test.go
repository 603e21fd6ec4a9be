package report

import (
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
)

func TestAFailedEnvironmentCheckHasTheCodeOfItsFirstWrongFinding(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 0, 0, 9, 0, time.UTC)
	setup := types.SpecReport{LeafNodeType: types.NodeTypeBeforeSuite, State: types.SpecStateFailed,
		Failure: types.Failure{Message: "This is not the lab.", TimelineLocation: types.TimelineLocation{Time: at}}}
	cordoned := &preflight.Facts{Fault: "node-cordoned"}
	first := firstFailure(types.SpecReports{setup}, cordoned, labtest.Pinned(t))
	if first == nil || first.By != EnvironmentCheck || first.Code != preflight.FaultLeft || !first.At.Equal(at) {
		t.Errorf("it is %+v", first)
	}
	setup.State = types.SpecStateAborted
	if first := firstFailure(types.SpecReports{setup}, cordoned, labtest.Pinned(t)); first == nil || first.Code != "" {
		t.Errorf("an interrupted check: %+v", first)
	}
	setup.State = types.SpecStateFailed
	if first := firstFailure(types.SpecReports{setup}, nil, labtest.Pinned(t)); first == nil || first.Code != "" {
		t.Errorf("one that failed before it collected anything: %+v", first)
	}
}
