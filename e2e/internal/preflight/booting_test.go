package preflight

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// booting answers a look with what is wrong at that time.
func booting(wrong func(after time.Duration) []Finding) (look func(context.Context) []Finding, looks *int) {
	began, count := time.Now(), 0
	return func(context.Context) []Finding {
		count++
		return append(wrong(time.Since(began)), Finding{Check: "node", Message: "lab, Ready"})
	}, &count
}

func TestALabThatBootsIsWaitedFor(t *testing.T) {
	kueue := Finding{Check: "Kueue", Message: "Deployment kueue is not available", Fix: "wait", Passes: true}
	dns := Finding{Check: "DNS", Message: "nobody answers DNS", Fix: "wait", Passes: true}
	quota := Finding{Check: "ClusterQueue", Message: "a quota of 5", Fix: "kubectl apply"}
	until := func(limit time.Duration, findings ...Finding) func(time.Duration) []Finding {
		return func(after time.Duration) []Finding {
			if after < limit {
				return findings
			}
			return nil
		}
	}
	for name, of := range map[string]struct {
		limit, ends time.Duration
		wrong       func(time.Duration) []Finding
		left        []string
	}{
		"it comes":                        {5 * time.Minute, 20 * time.Second, until(20*time.Second, kueue, dns), nil},
		"it does not come":                {5 * time.Minute, 5 * time.Minute, until(time.Hour, kueue, dns), []string{"Kueue", "DNS"}},
		"a wrong quota is not waited for": {5 * time.Minute, 0, until(time.Hour, kueue, quota), []string{"Kueue", "ClusterQueue"}},
		"a wrong quota shows later": {5 * time.Minute, 30 * time.Second, func(after time.Duration) []Finding {
			if after < 30*time.Second {
				return []Finding{kueue}
			}
			return []Finding{quota}
		}, []string{"ClusterQueue"}},
		"no wait was asked for": {0, 0, until(time.Hour, kueue), []string{"Kueue"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				look, _ := booting(of.wrong)
				var reported []string
				findings := await(t.Context(), of.limit, look, func(line string) { reported = append(reported, line) })
				var left []string
				for _, finding := range findings {
					if finding.Wrong() {
						left = append(left, finding.Check)
					}
				}
				if took := time.Since(began); took != of.ends || !slices.Equal(left, of.left) {
					t.Errorf("after %s %q was wrong; not %q after %s", took, left, of.left, of.ends)
				}
				if lines := int(of.ends / reportEvery); len(reported) > lines+1 || lines > 2 && len(reported) < lines/2 {
					t.Errorf("%d lines were reported in %s: %q", len(reported), of.ends, reported)
				}
				if len(reported) > 0 && (strings.Contains(reported[0], "\n") || !strings.Contains(reported[0], "Kueue: Deployment kueue is not available")) {
					t.Errorf("reported: %q", reported[0])
				}
			})
		})
	}
}

// What comes and goes is wrong since it last went, and says so in the list.
func TestWhatIsWrongSaysSinceWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		look, _ := booting(func(after time.Duration) []Finding {
			wrong := []Finding{{Check: "Kueue", Message: "away", Fix: "wait", Passes: true}}
			if after < 10*time.Second || after >= 40*time.Second {
				wrong = append(wrong, Finding{Check: "DNS", Message: "away", Fix: "wait", Passes: true})
			}
			return wrong
		})
		findings := await(t.Context(), time.Minute, look, func(string) {})
		if kueue, dns := findings[0].Since.Sub(began), findings[1].Since.Sub(began); kueue != 0 || dns != 40*time.Second || !findings[2].Since.IsZero() {
			t.Errorf("Kueue since %s, DNS since %s: %+v", kueue, dns, findings)
		}
		if reported := Blocking(findings); !strings.Contains(reported, "wrong since "+began.Add(40*time.Second).UTC().Format(time.TimeOnly)) {
			t.Errorf("the list does not say since when:\n%s", reported)
		}
	})
}

func TestAWaitEndsWhenItIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		look, looks := booting(func(time.Duration) []Finding { return []Finding{{Check: "Kueue", Fix: "wait", Passes: true}} })
		await(ctx, time.Hour, look, func(string) {})
		if took := time.Since(began); took != 3*time.Second || *looks != 3 {
			t.Errorf("it took %s and %d looks", took, *looks)
		}
	})
}

func TestAKubeconfigThatIsNotThereYetIsWaitedFor(t *testing.T) {
	folder := t.TempDir()
	later, content := filepath.Join(folder, "kubeconfig"), []byte(`{"apiVersion": "v1", "kind": "Config", "current-context": "it",
		"clusters": [{"name": "it", "cluster": {"server": "https://127.0.0.1:1"}}], "contexts": [{"name": "it", "context": {"cluster": "it"}}]}`)
	broken := filepath.Join(folder, "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, ends := range map[string]time.Duration{later: 6 * time.Second, filepath.Join(folder, "none"): time.Minute, broken: 0, "": 0} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			AwaitKubeconfig(t.Context(), path, time.Minute, func(string) {
				if time.Since(began) >= 5*time.Second && path == later {
					if err := os.WriteFile(later, content, 0o600); err != nil {
						t.Error(err)
					}
				}
			})
			if took := time.Since(began); took < ends || took > ends+2*checkEvery {
				t.Errorf("%q was waited for %s, not %s", path, took, ends)
			}
		})
	}
}

func TestOnlyALengthOfTimeIsAWait(t *testing.T) {
	t.Parallel()
	for given, wanted := range map[string]time.Duration{"": 0, "5m": 5 * time.Minute, "90s": 90 * time.Second} {
		if wait, err := settings.ReadWait(given); err != nil || wait != wanted {
			t.Errorf("%q: %s, %v", given, wait, err)
		}
	}
	for _, given := range []string{"5", "soon", "-1m", "5m; id"} {
		if _, err := settings.ReadWait(given); err == nil || !strings.Contains(err.Error(), "such as 5m") {
			t.Errorf("%q: %v", given, err)
		}
	}
}
