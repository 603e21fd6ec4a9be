package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gsb.test/jobset-e2e/fixtures"
)

// How often a booting lab is asked again, and how often that is told.
const (
	askedEvery = 2 * time.Second
	toldEvery  = 5 * time.Second
)

// ReadWait reads how long to wait for a lab that still boots; nothing is not at all.
func ReadWait(given string) (time.Duration, error) {
	if given == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(given)
	if err != nil || wait < 0 {
		return 0, fmt.Errorf("LAB_WAIT (--wait) is %q, which is no length of time; give one such as 5m or 90s", given)
	}
	return wait, nil
}

// AwaitKubeconfig waits until there is a kubeconfig: k3s writes its own only once
// it runs. A path that does not say anything is not waited for.
func AwaitKubeconfig(ctx context.Context, path string, limit time.Duration, say func(string)) {
	if path == "" {
		return
	}
	missing := func(context.Context) []Finding {
		if _, err := readKubeconfig(path); err == nil {
			return nil
		}
		info, err := os.Stat(path)
		return []Finding{{What: "kubeconfig", Says: path + " is not there", Mend: "boot the lab", Passes: os.IsNotExist(err) || err == nil && info.Size() == 0}}
	}
	await(ctx, limit, missing, say)
}

// AwaitLab surveys the lab and judges it; and does so again while all that is wrong
// passes by itself, for as long as the limit allows. What is still wrong then says
// since when it was.
func (w *World) AwaitLab(ctx context.Context, limit time.Duration, say func(string)) (*Site, []Finding) {
	var site *Site
	findings := await(ctx, limit, func(ctx context.Context) []Finding {
		site = w.Survey(ctx)
		return Preflight(site, w.Pins)
	}, say)
	return site, findings
}

// AwaitHold is Hold, and again for as long as the limit allows while another run
// has the lab.
func (w *World) AwaitHold(ctx context.Context, limit time.Duration, program string, lost func(error), say func(string)) (func(context.Context) error, error) {
	for began := time.Now(); ; {
		release, err := w.Hold(ctx, program, lost)
		var occupied *Occupied
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
func (s *Site) Rejudge(before []Finding, pins fixtures.Pins) []Finding {
	findings := Preflight(s, pins)
	for i := range findings {
		at := slices.IndexFunc(before, func(f Finding) bool { return f.What == findings[i].What && f.Wrong() })
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
			since[finding.What] = asked
			if before, ok := earlier[finding.What]; ok {
				since[finding.What] = before
			}
			if limit > 0 {
				finding.Since = since[finding.What]
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
	line := fmt.Sprintf(" … the lab is not ready after %s of at most %s: %s: %s", waited.Round(time.Second), limit.Round(time.Second), wrong[0].What, firstLine(wrong[0].Says))
	var others []string
	for _, finding := range wrong[1:] {
		if !slices.Contains(others, finding.What) && finding.What != wrong[0].What {
			others = append(others, finding.What)
		}
	}
	if len(others) > 0 {
		line += "; also " + strings.Join(others, ", ")
	}
	return line
}
