package blockers

import (
	"context"
	"fmt"
	"testing"
)

func TestALookupThatNobodyAnswered(t *testing.T) {
	t.Parallel()
	const timedOut = ";; connection timed out; no servers could be reached\n\n"
	const noSuchName = "Server:\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n** server can't find hello: NXDOMAIN\n"
	const answered = "Server:\t10.96.0.10\nAddress:\t10.96.0.10:53\n\nName:\thello.ml.svc.cluster.local\nAddress: 10.244.0.7\n"
	if !Unanswered(timedOut, nil) {
		t.Error("a lookup that gave up is taken for answered")
	}
	for _, printed := range []string{noSuchName, answered, ""} {
		if Unanswered(printed, nil) {
			t.Errorf("taken for unanswered: %q", printed)
		}
	}
	if late := fmt.Errorf("kubectl exec: %w", context.DeadlineExceeded); !Unanswered("", late) || Unanswered(answered, late) {
		t.Error("a lookup that was cut off is judged by what it had printed")
	}
}
