package faults

import (
	"fmt"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
)

// The verdicts of a run that failed nothing.
const (
	passed  = "passed"
	partial = "partial"
)

// judge tells why a run of the suite on a broken lab did not catch the fault as
// it must; nothing if it did. took is how long it took until
// the suite told its first failure, or ended without one.
func judge(f Fault, run report.Verdict, took time.Duration) string {
	by, told := firstFailure(run)
	switch {
	case by == "":
		return fmt.Sprintf("it was not caught: the verdict of the run is %s (%s)", run.Verdict, run.Reason)
	case by != f.Caught.By:
		return fmt.Sprintf("it was caught by %s and not by %s: %s", by, f.Caught.By, firstLine(told))
	}
	for _, words := range f.Caught.Words {
		if !strings.Contains(told, words) {
			return fmt.Sprintf("it was told in other words: %q is missing in: %s", words, firstLine(told))
		}
	}
	if took > f.within() {
		return fmt.Sprintf("it was told too late: after %.1f s, and it may take %.0f s", took.Seconds(), f.within().Seconds())
	}
	return ""
}

// after is a result once the lab was mended, or could not be: a fault that was
// caught and is still there fails the run all the same.
func (r Result) after(interrupted bool, unmended error) Result {
	if interrupted {
		r.Wrong = "it was interrupted"
	}
	if unmended != nil {
		r.Wrong = joined(r.Wrong, "the lab is not mended: "+unmended.Error())
	}
	return r
}

// told is who told first that something is wrong, and what was told: of the
// preflight, the first wrong finding alone, so that words that stand beside it
// for what is right do not count.
func firstFailure(run report.Verdict) (by, message string) {
	switch {
	case run.FirstFailure == nil && run.Verdict == partial:
		return partly, run.Reason
	case run.FirstFailure == nil && run.Verdict == passed:
		return "", ""
	case run.FirstFailure == nil:
		return run.Verdict, run.Reason
	case run.FirstFailure.By != "preflight":
		return run.FirstFailure.By, run.FirstFailure.Message
	}
	for _, finding := range run.Preflight {
		if finding.Wrong() {
			return "preflight", fmt.Sprintf("%s: %s\nmend: %s", finding.Check, finding.Message, finding.Fix)
		}
	}
	return "preflight", run.FirstFailure.Message
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
