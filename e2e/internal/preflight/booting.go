package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// How often a booting lab is checked again, and how often that is reported.
const (
	checkEvery  = 2 * time.Second
	reportEvery = 5 * time.Second
)

// AwaitKubeconfig waits until there is a kubeconfig: k3s writes its own only once
// it runs. An empty path is not waited for.
func AwaitKubeconfig(ctx context.Context, path string, limit time.Duration, say func(string)) {
	if path == "" {
		return
	}
	missing := func(context.Context) []Finding {
		if _, err := cluster.ReadKubeconfig(path); err == nil {
			return nil
		}
		info, err := os.Stat(path)
		return []Finding{{Check: "kubeconfig", Code: KubeconfigNotFound, Message: path + " is not there", Fix: "boot the lab",
			Passes: os.IsNotExist(err) || err == nil && info.Size() == 0}}
	}
	await(ctx, limit, missing, say)
}

// AwaitLab collects facts of the lab and judges them; and does so again while all that
// is wrong passes by itself, for as long as the limit allows. What is still wrong then
// carries since when it was.
func AwaitLab(ctx context.Context, w *cluster.Cluster, limit time.Duration, say func(string)) (*Facts, []Finding) {
	var facts *Facts
	findings := await(ctx, limit, func(ctx context.Context) []Finding {
		facts = Collect(ctx, w)
		return Judge(facts, w.Pins)
	}, say)
	return facts, findings
}

// AwaitHold is Hold, and again for as long as the limit allows while another run
// has the lab.
func AwaitHold(ctx context.Context, w *cluster.Cluster, limit time.Duration, program string, lost func(error), say func(string)) (func(context.Context) error, error) {
	for began := time.Now(); ; {
		release, err := ownership.Hold(ctx, w, program, lost)
		var occupied *ownership.Occupied
		if !errors.As(err, &occupied) || ctx.Err() != nil || time.Since(began) >= limit {
			return release, err
		}
		say(fmt.Sprintf(" … another run is on this lab after %s of at most %s: %s", time.Since(began).Round(time.Second), limit.Round(time.Second), occupied.Holder))
		select {
		case <-ctx.Done():
		case <-time.After(min(reportEvery, limit-time.Since(began))):
		}
	}
}

// Rejudge judges the facts again, of which more is known than when they were judged
// before. What was wrong then carries since when.
func (s *Facts) Rejudge(before []Finding, pins fixtures.Pins) []Finding {
	findings := Judge(s, pins)
	for i := range findings {
		at := slices.IndexFunc(before, func(f Finding) bool { return f.Check == findings[i].Check && f.Wrong() })
		if findings[i].Wrong() && at >= 0 {
			findings[i].Since = before[at].Since
		}
	}
	return findings
}

// await looks until nothing is wrong, something is that does not pass by itself,
// the limit is reached, or ctx ends; and returns what the last look found.
func await(ctx context.Context, limit time.Duration, look func(context.Context) []Finding, say func(string)) []Finding {
	began := time.Now()
	var said time.Time
	var since map[string]time.Time
	for {
		asked, earlier := time.Now(), since
		findings := look(ctx)
		var wrong []Finding
		since = map[string]time.Time{}
		for i := range findings {
			finding := &findings[i]
			if !finding.Wrong() {
				continue
			}
			since[finding.Check] = asked
			if before, ok := earlier[finding.Check]; ok {
				since[finding.Check] = before
			}
			if limit > 0 {
				finding.Since = since[finding.Check]
			}
			wrong = append(wrong, *finding)
		}
		lasting := slices.ContainsFunc(wrong, func(finding Finding) bool { return !finding.Passes })
		if len(wrong) == 0 || lasting || ctx.Err() != nil || time.Since(began) >= limit {
			return findings
		}
		if time.Since(said) >= reportEvery {
			said = time.Now()
			say(notReady(wrong, time.Since(began), limit))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(checkEvery, limit-time.Since(began))):
		}
	}
}

// notReady says on one line what is waited for.
func notReady(wrong []Finding, waited, limit time.Duration) string {
	line := fmt.Sprintf(" … the lab is not ready after %s of at most %s: %s: %s", waited.Round(time.Second), limit.Round(time.Second), wrong[0].Check, text.FirstLine(wrong[0].Message))
	var others []string
	for _, finding := range wrong[1:] {
		if !slices.Contains(others, finding.Check) && finding.Check != wrong[0].Check {
			others = append(others, finding.Check)
		}
	}
	if len(others) > 0 {
		line += "; also " + strings.Join(others, ", ")
	}
	return line
}
