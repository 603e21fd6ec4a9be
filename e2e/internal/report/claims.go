package report

import (
	"fmt"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// A ClaimResult is how one claim of the lab text came out in a run.
type ClaimResult struct {
	Name string `json:"name"`
	snapshot.Text
	Quotes []string `json:"quotes"`
	// Proofs are what proves it: a check of the environment, a step, a mistake or a
	// probe, by kind and name.
	Proofs []string `json:"proofs,omitempty"`
	State  string   `json:"result"` // proven, refuted, skipped, not run or explanatory
	// Code and Why are of the first proof that does not hold: what was seen.
	Code snapshot.Code  `json:"code,omitempty"`
	Why  *snapshot.Text `json:"why,omitempty"`
}

// Refuted reports whether the run showed that the claim is not so.
func (r ClaimResult) Refuted() bool { return r.State == refuted }

// The states of a ClaimResult beside notRun; a mistake that does not decide the verdict
// may be refuted or skipped too.
const (
	proven      = "proven"
	refuted     = "refuted"
	skipped     = "skipped"
	explanatory = "explanatory"
)

// claimStates are all of them, in the order in which they are counted.
var claimStates = []string{proven, refuted, skipped, notRun, explanatory}

// JudgeClaims finds of each claim by what proves it how it came out. Without a run all
// that can be proven is not run.
func (c *Summary) JudgeClaims(list fixtures.Claims) {
	for _, claim := range list.Claims {
		result := ClaimResult{Name: claim.Name, Text: snapshot.Text{KO: claim.KO, EN: claim.EN}, Quotes: claim.Quotes, Proofs: claim.Proofs(), State: explanatory}
		if claim.Explanatory != nil {
			result.Why = &snapshot.Text{KO: claim.Explanatory.KO, EN: claim.Explanatory.EN}
		} else {
			result.settle(c.proofsOf(claim))
		}
		c.Claims = append(c.Claims, result)
	}
}

// settle takes the worst of the results of what proves a claim, and the first of these:
// what is refuted outweighs what is skipped, and that what is not run.
func (r *ClaimResult) settle(proofs []Result) {
	r.State = proven
	for _, state := range []string{refuted, skipped, notRun} {
		for i, proof := range proofs {
			if proof.State == state {
				r.State, r.Code = state, proof.Code
				if proof.Why != "" {
					r.Why = &snapshot.Text{EN: proof.Why}
				}
				if r.Why != nil && len(proofs) > 1 {
					r.Why.EN = r.Proofs[i] + ": " + r.Why.EN
				}
				return
			}
		}
	}
}

// proofsOf are the results of all that proves a claim, in the words of a claim.
func (c *Summary) proofsOf(claim fixtures.Claim) []Result {
	var results []Result
	for _, check := range claim.Checks {
		results = append(results, c.checked(check))
	}
	for _, number := range claim.Steps {
		results = append(results, asProof(c.Steps, func(r Result) bool { return r.Number == number }))
	}
	for _, name := range claim.Mistakes {
		results = append(results, asProof(c.Mistakes, func(r Result) bool { return r.Name == name }))
	}
	for _, name := range claim.Probes {
		results = append(results, asProof(c.Probes, func(r Result) bool { return r.Name == name }))
	}
	return results
}

func asProof(results []Result, is func(Result) bool) Result {
	at := slices.IndexFunc(results, is)
	if at < 0 {
		return Result{State: notRun, Why: notAskedFor}
	}
	result := results[at]
	switch result.State {
	case passed, done:
		result.State, result.Why = proven, ""
	case Failed:
		result.State = refuted
	}
	return result
}

// checked is what the environment check says for a claim.
func (c *Summary) checked(check string) Result {
	at := slices.IndexFunc(c.Findings, func(f preflight.Finding) bool { return f.Check == check })
	switch {
	case at < 0:
		return Result{State: notRun, Why: endedBefore}
	case c.Findings[at].Wrong():
		return Result{State: refuted, Code: c.Findings[at].Code, Why: c.Findings[at].Message}
	}
	return Result{State: proven}
}

// claimRows are the rows of the closing block: how many came out how, and of each that is
// refuted or skipped what was seen.
func claimRows(claims []ClaimResult) [][]string {
	if len(claims) == 0 {
		return nil
	}
	rows := [][]string{{"claims", CountClaims(claims).EN + "; all of them: lab-e2e claims"}}
	for _, claim := range claims {
		if claim.State == refuted || claim.State == skipped {
			rows = append(rows, []string{"  " + claim.State, claim.Name + ": " + text.Shorten(claim.Why.EN)})
		}
	}
	return rows
}

// CountClaims says how many claims came out how.
func CountClaims(claims []ClaimResult) snapshot.Text {
	var ko, en []string
	for _, state := range claimStates {
		n := 0
		for _, claim := range claims {
			if claim.State == state {
				n++
			}
		}
		if n > 0 || state == proven || state == refuted {
			ko = append(ko, fmt.Sprintf("%s %d", StatesInKorean[state], n))
			en = append(en, fmt.Sprintf("%d %s", n, state))
		}
	}
	return snapshot.Text{
		KO: fmt.Sprintf("실습 글의 주장 %d개: %s", len(claims), strings.Join(ko, ", ")),
		EN: fmt.Sprintf("%d of the lab text: %s", len(claims), strings.Join(en, ", ")),
	}
}

// SameClaims reports whether two lists are of the same claims with the same proofs.
func SameClaims(one, other []ClaimResult) bool {
	return slices.EqualFunc(one, other, func(a, b ClaimResult) bool {
		return a.Name == b.Name && a.Text == b.Text && slices.Equal(a.Proofs, b.Proofs)
	})
}

// StatesInKorean are the states of a claim.
var StatesInKorean = map[string]string{proven: "증명됨", refuted: "반증됨", skipped: "건너뜀", notRun: "실행 안 됨", explanatory: "설명"}

// ClaimTable lists claims in Korean and in English, with what proves each and what was seen.
func ClaimTable(claims []ClaimResult) string {
	rows := [][]string{{"result", "claim", ""}}
	for _, claim := range claims {
		rows = append(rows,
			[]string{claim.State, claim.Name, claim.KO},
			[]string{StatesInKorean[claim.State], "", claim.EN},
			[]string{"", "", "「" + strings.Join(claim.Quotes, "」 「") + "」"})
		if len(claim.Proofs) > 0 {
			rows = append(rows, []string{"", "", "= " + strings.Join(claim.Proofs, ", ")})
		}
		if claim.Why != nil && claim.Why.KO != "" {
			rows = append(rows, []string{"", "", "* " + claim.Why.KO})
		}
		if claim.Why != nil && claim.Why.EN != notAskedFor {
			rows = append(rows, []string{"", "", "* " + claim.Why.EN})
		}
	}
	return text.Visible(text.Columns(rows))
}
