// Package answers does each step in the many ways in which people really do it, on a
// real lab, and requires that a run and a check judge every one of them rightly.
package answers

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/e2e/steps"
	"gsb.test/jobset-e2e/fixtures"
)

// folder is where the catalogue lies: one file an answer, nothing else to register.
const folder = "answers/"

// passed is the verdict on an answer that is right; that on any other is a code.
const passed = "passed"

// An Answer is one way of doing a step: a script of what is typed, and how it must be judged.
type Answer struct {
	// Name is the stem of its file; its first word is the step's name.
	Name string
	// Title says what people do there or, of a wrong one, believe.
	Title string
	Step  lab.Step
	// Verdict is "passed", or the code of what is first missing.
	Verdict string
	// OnSolvedLab marks an answer that only writes files, and finds all JobSets of the
	// steps as they should be.
	OnSolvedLab bool
	Script      string
}

// Catalogue returns the answers of these names in this order, or all of them if none
// is named. Every file is read all the same: a slip in one is an error.
func Catalogue(names []string) ([]Answer, error) {
	var all []Answer
	var wrong []error
	for _, file := range fixtures.Names() {
		if !strings.HasPrefix(file, folder) {
			continue
		}
		content, err := fixtures.Read(file)
		if err != nil {
			return nil, err
		}
		answer, err := parse(strings.TrimSuffix(path.Base(file), ".sh"), string(content))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("fixtures/%s: %w", file, err))
		}
		all = append(all, answer)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Answer) int { return cmp.Compare(a.Step.Number, b.Step.Number) })
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Answer
	for _, name := range names {
		at := slices.IndexFunc(all, func(a Answer) bool { return a.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no answer %q; there are:\n%s", name, Listing(all))
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

// parse reads an answer. Its file begins with comments: the title, over as many lines as it
// takes, then "check: VERDICT" and, for one that only writes files, "lab: solved".
func parse(name, script string) (Answer, error) {
	answer := Answer{Name: name, Script: script}
	word, _, _ := strings.Cut(name, "-")
	at := slices.IndexFunc(steps.Course.Steps, func(s lab.Step) bool { return s.Name == word })
	if at < 0 {
		return answer, fmt.Errorf("its name begins with %q, which is no step's name", word)
	}
	answer.Step = steps.Course.Steps[at]
	var title []string
	for line := range strings.Lines(script) {
		comment, is := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !is {
			break
		}
		comment = strings.TrimSpace(comment)
		switch key, value, _ := strings.Cut(comment, ":"); {
		case key == "check":
			answer.Verdict = strings.TrimSpace(value)
		case comment == "lab: solved":
			answer.OnSolvedLab = true
		case answer.Verdict == "":
			title = append(title, comment)
		}
	}
	answer.Title = strings.Join(title, " ")
	switch {
	case answer.Title == "":
		return answer, errors.New("no comment before check: says what people do there")
	case answer.Verdict == "":
		return answer, errors.New("check: is missing; it is passed, or a code")
	case answer.Step.Name == "report" && !answer.OnSolvedLab:
		return answer, errors.New("step report is about the JobSets of other steps, so lab: solved is missing")
	}
	return answer, nil
}

// sharesQuota are the JobSets that need the quota, of which there is too little for two answers.
var sharesQuota = []string{"train", "big"}

// lane names the JobSets that only one answer at a time may make: its step's own or, where
// that is queued, all that are.
func (a Answer) lane() []string {
	if slices.Contains(sharesQuota, a.Step.JobSets[0]) {
		return sharesQuota
	}
	return a.Step.JobSets
}

// verdictOf is how a step was judged, as an answer's file says it.
func verdictOf(code snapshot.Code, isPassed bool) string {
	if isPassed {
		return passed
	}
	return string(code)
}

// Listing lists answers, one a line: name, verdict, title.
func Listing(all []Answer) string {
	var lines []string
	for _, answer := range all {
		lines = append(lines, fmt.Sprintf("  %-44s %-24s %s", answer.Name, answer.Verdict, answer.Title))
	}
	return strings.Join(lines, "\n")
}
