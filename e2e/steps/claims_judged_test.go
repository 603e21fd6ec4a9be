package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// answered is what a lab answered to a probe. No lab that a developer has is k3s or runs
// the pinned JobSet, so what those would answer is written here.
func answered(t *testing.T, probe string) *snapshot.Snapshot {
	t.Helper()
	s := recorded(t, "claims/boot-time.yaml")
	switch m := s.Answers.Machine; probe {
	case "one-k3s":
		m.Kubernetes, m.Nodes = "v1.36.3+k3s1", map[string]string{"vm": "k3s://vm"}
	case "jobset-version":
		m.JobSet = "v0.13.0"
	default:
		s = recorded(t, "claims/"+probe+".yaml")
	}
	return s
}

// A probe holds on the answers of a real lab, and on none of those that are close to them.
func TestClaimsAreJudged(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, probe := range Course.Probes {
		if check := probe.Judge(answered(t, probe.Name)); len(check.Mismatches) > 0 {
			t.Errorf("%s: %v", probe, check.Mismatches)
		}
		for _, right := range holding[probe.Name] {
			s := answered(t, probe.Name)
			right.change(s)
			if check := probe.Judge(s); len(check.Mismatches) > 0 {
				t.Errorf("%s, %s: %v", probe, right.name, check.Mismatches)
			}
		}
		if len(refuting[probe.Name]) < 3 {
			t.Errorf("%s has %d answers that refute it", probe, len(refuting[probe.Name]))
		}
		for _, wrong := range refuting[probe.Name] {
			s := answered(t, probe.Name)
			wrong.change(s)
			check := probe.Judge(s)
			if len(check.Mismatches) == 0 {
				t.Errorf("%s, %s: it holds", probe, wrong.name)
				continue
			}
			told.WriteString(refused(probe.Name+": "+wrong.name, check))
		}
	}
	golden(t, "claims.txt", told.String())
}

// What claims.yaml names must be there, and every probe must be of a claim.
func TestClaimsNameWhatProvesThem(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, claim := range claimsOfTheText(t).Claims {
		for _, proof := range claim.Proofs() {
			named[proof] = true
		}
	}
	known := map[string]bool{}
	for _, step := range Course.Steps {
		known[fmt.Sprintf("step %d", step.Number)] = true
	}
	for _, mistake := range Course.Mistakes {
		known["mistake "+mistake.Name] = true
	}
	for _, probe := range Course.Probes {
		known["probe "+probe.Name] = true
		if !named["probe "+probe.Name] {
			t.Errorf("no claim needs the probe %s", probe.Name)
		}
	}
	for _, finding := range preflight.Judge(&preflight.Facts{}, labtest.Pinned(t)) {
		known["check "+finding.Check] = true
	}
	for _, proof := range slices.Sorted(maps.Keys(named)) {
		if !known[proof] {
			t.Errorf("claims.yaml names %s, which there is not", proof)
		}
	}
}
