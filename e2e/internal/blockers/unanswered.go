package blockers

import (
	"context"
	"errors"
	"strings"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Unanswered tells a lookup that no DNS server answered from one that was
// answered with anything, be it that there is no such name. busybox's nslookup
// and BIND's tools give up with the same words; one that is still waiting when
// the look at it ends has not been answered either.
func Unanswered(printed string, err error) bool {
	return strings.Contains(printed, "no servers could be reached") ||
		errors.Is(err, context.DeadlineExceeded) && snapshot.LookupIn(printed, "").IsNone()
}
