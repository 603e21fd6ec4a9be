package lab

import (
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

func newFailure(stage string, end outcome) report.Failure {
	failure := report.Failure{Stage: stage, Mismatch: *end.mismatches[0], Others: end.mismatches[1:], Waited: text.Seconds(end.waited.Round(time.Millisecond))}
	if end.blocker.Code != "" {
		failure.Blocker = &end.blocker
	}
	return failure
}
