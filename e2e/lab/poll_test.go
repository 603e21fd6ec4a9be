package lab

import (
	"strings"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
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
