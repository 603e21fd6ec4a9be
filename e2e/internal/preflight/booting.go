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

// How often a booting lab is asked again, and how often that is told.
const (
	askedEvery = 2 * time.Second
	toldEvery  = 5 * time.Second
)

// AwaitKubeconfig waits until there is a kubeconfig: k3s writes its own only once
// it runs. A path that does not say anything is not waited for.
func AwaitKubeconfig(ctx context.Context, path string, limit time.Duration, say func(string)) {
	if path == "" {
		return
	}
	missing := func(context.Context) []Finding {
		if _, err := cluster.ReadKubeconfig(path); err == nil {
			return nil
		}
		info, err := os.Stat(path)
		return []Finding{{Check: "kubeconfig", Message: path + " is not there", Fix: "boot the lab", Passes: os.IsNotExist(err) || err == nil && info.Size() == 0}}
	}
	await(ctx, limit, missing, say)
}

// AwaitLab surveys the lab and judges it; and does so again while all that is wrong
// passes by itself, for as long as the limit allows. What is still wrong then says
// since when it was.
func AwaitLab(ctx context.Context, w *cluster.Cluster, limit time.Duration, say func(string)) (*Facts, []Finding) {
	var site *Facts
	findings := await(ctx, limit, func(ctx context.Context) []Finding {
		site = Collect(ctx, w)
		return Judge(site, w.Pins)
	}, say)
	return site, findings
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
		case <-time.After(min(toldEvery, limit-time.Since(began))):
		}
	}
}

// Rejudge judges the site again, of which more is known than when it was judged
// before. What was wrong then says since when.
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
		if time.Since(said) >= toldEvery {
			said = time.Now()
			say(notReady(wrong, time.Since(began), limit))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(askedEvery, limit-time.Since(began))):
		}
	}
}

// notReady says in one line what a wait is for.
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
