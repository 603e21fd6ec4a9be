package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A hold-up ends a wait only if it stayed: one that came back counts anew, and
// one of another kind too.
func TestAHoldUpMustStayToEndAWait(t *testing.T) {
	began := time.Now().Add(-2 * awayFor)
	at := func(seconds time.Duration, away bool) *Snapshot {
		s := onItsWayJobSet()
		s.jobFailed()
		s.Taken, s.Controllers[0].Available = began.Add(seconds*time.Second), !away
		return s
	}
	stayed := &holding{jobSets: []string{"train"}}
	stayed.lasting(at(0, true))
	if says := stayed.lasting(at(20, true)); !strings.Contains(says.Message, "already the JobSet controller does no work") {
		t.Errorf("it stayed for long, and the wait goes on: %+v", says)
	}
	justNow := &holding{jobSets: []string{"train"}}
	fresh := at(0, true)
	fresh.Taken = time.Now()
	if says := justNow.lasting(fresh); says.Code != "" {
		t.Errorf("it was seen for the first time, and the wait ends: %+v", says)
	}
	passed := &holding{jobSets: []string{"train"}}
	passed.lasting(at(0, true))
	passed.lasting(at(1, false))
	again := at(0, true)
	again.Taken = time.Now()
	if says := passed.lasting(again); says.Code != "" {
		t.Errorf("it had passed meanwhile, and the wait ends: %+v", says)
	}
}

func TestALookupThatNobodyAnswered(t *testing.T) {
	const timedOut = ";; connection timed out; no servers could be reached\n\n"
	const noSuchName = "Server:\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n** server can't find hello: NXDOMAIN\n"
	const answered = "Server:\t10.96.0.10\nAddress:\t10.96.0.10:53\n\nName:\thello.ml.svc.cluster.local\nAddress: 10.244.0.7\n"
	if !unanswered(timedOut, nil) {
		t.Error("a lookup that gave up is taken for answered")
	}
	for _, printed := range []string{noSuchName, answered, ""} {
		if unanswered(printed, nil) {
			t.Errorf("taken for unanswered: %q", printed)
		}
	}
	if late := fmt.Errorf("kubectl exec: %w", context.DeadlineExceeded); !unanswered("", late) || unanswered(answered, late) {
		t.Error("a lookup that was cut off is judged by what it had printed")
	}
}
