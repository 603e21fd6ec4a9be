package faults

import (
	"fmt"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The verdicts of a run that failed nothing.
const (
	passed  = "passed"
	partial = "partial"
)

// A detection is what a run of the suite reported first.
type detection struct {
	by          string // as in Expect; empty if nothing was reported
	code, cause snapshot.Code
	message     string
}

// firstFailure finds in a verdict what the run reported first.
func firstFailure(run report.Verdict) detection {
	switch first := run.FirstFailure; {
	case first == nil && run.Verdict == partial:
		return detection{by: byVerdict, code: versionMismatch(run.Preflight), message: run.Reason}
	case first == nil && run.Verdict == passed:
		return detection{}
	case first == nil:
		return detection{by: run.Verdict, message: run.Reason}
	default:
		found := detection{first.By, first.Code, first.Cause, first.Message}
		if wrong := preflight.FirstWrong(run.Preflight); wrong != nil && first.By == report.EnvironmentCheck {
			found.message = fmt.Sprintf("%s: %s\nfix: %s", wrong.Check, wrong.Message, wrong.Fix)
		}
		return found
	}
}

// versionMismatch is the code of what makes the verdict on a whole run partial.
func versionMismatch(findings []preflight.Finding) snapshot.Code {
	for _, finding := range findings {
		if finding.Code == preflight.JobSetVersionMismatch || finding.Code == preflight.KueueVersionMismatch {
			return finding.Code
		}
	}
	return ""
}

// judge says why a run of the suite on a broken lab did not catch the fault as it
// must; it is empty if the run did. took is how long it took until the suite reported
// its first failure, or ended without one.
func judge(f Fault, run report.Verdict, took time.Duration) string {
	found := firstFailure(run)
	switch {
	case found.by == "":
		return fmt.Sprintf("it was not caught: the verdict of the run is %s (%s)", run.Verdict, run.Reason)
	case found.by != f.Caught.By:
		return fmt.Sprintf("it was caught by %s and not by %s: %s", found.by, f.Caught.By, firstLine(found.message))
	case found.code != f.Caught.Code:
		return fmt.Sprintf("it was reported with code %q and not %q: %s", found.code, f.Caught.Code, firstLine(found.message))
	case found.cause != f.Caught.Cause:
		return fmt.Sprintf("it was reported with cause %q and not %q: %s", found.cause, f.Caught.Cause, firstLine(found.message))
	case f.Caught.JobSet != "" && run.Found.JobSet != f.Caught.JobSet:
		return fmt.Sprintf("it was reported for JobSet %q and not %q", run.Found.JobSet, f.Caught.JobSet)
	case took > f.within():
		return fmt.Sprintf("it was reported too late: after %.1f s, and it may take %.0f s", took.Seconds(), f.within().Seconds())
	}
	return ""
}

// after is a result once the lab was restored, or could not be: a fault that was
// caught and is still there fails the run all the same.
func (r Result) after(interrupted bool, notRestored error) Result {
	if interrupted {
		r.Wrong = "it was interrupted"
	}
	if notRestored != nil {
		r.Wrong = joined(r.Wrong, "the lab is not restored: "+notRestored.Error())
	}
	return r
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
