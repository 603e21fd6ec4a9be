package lab

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A hold-up ends a wait only if it stayed: one that came back counts anew, and
// one of another kind too.
func TestAHoldUpMustStayToEndAWait(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-2 * blockers.ControllerBackWithin)
	at := func(seconds time.Duration, away bool) *snapshot.Snapshot {
		s := labtest.OnItsWayJobSet()
		labtest.JobFailed(s)
		s.Taken, s.Controllers[0].Available = began.Add(seconds*time.Second), !away
		return s
	}
	stayed := &poller{jobSets: []string{"train"}}
	stayed.blockedFor(at(0, true))
	if says := stayed.blockedFor(at(20, true)); !strings.Contains(says.Message, "already the JobSet controller does no work") {
		t.Errorf("it stayed for long, and the wait goes on: %+v", says)
	}
	justNow := &poller{jobSets: []string{"train"}}
	fresh := at(0, true)
	fresh.Taken = time.Now()
	if says := justNow.blockedFor(fresh); says.Code != "" {
		t.Errorf("it was seen for the first time, and the wait ends: %+v", says)
	}
	passed := &poller{jobSets: []string{"train"}}
	passed.blockedFor(at(0, true))
	passed.blockedFor(at(1, false))
	again := at(0, true)
	again.Taken = time.Now()
	if says := passed.blockedFor(again); says.Code != "" {
		t.Errorf("it had passed meanwhile, and the wait ends: %+v", says)
	}
}

// What a JobSet asks for is not waited for: no controller changes it.
func TestNoWaitForWhatAJobSetAsksFor(t *testing.T) {
	t.Parallel()
	for code, stops := range map[snapshot.Code]bool{matchers.MaxRestartsWrong: true, matchers.PodsNotRunning: false} {
		mismatch := &matchers.Mismatch{Code: code, OfSpec: stops}
		waiting := &poller{end: &outcome{}, judge: func(*snapshot.Snapshot) []*matchers.Mismatch {
			return []*matchers.Mismatch{{Code: matchers.NotRestarted}, mismatch}
		}}
		met, err := waiting.Match(labtest.OnItsWayJobSet())
		var stop gomega.PollingSignalError
		if met || errors.As(err, &stop) != stops {
			t.Errorf("%s: met %t, %v", code, met, err)
		}
	}
}
