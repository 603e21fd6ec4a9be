// Package faults breaks a standing lab in every way that the catalogue of
// fixtures/faults knows, one at a time, and requires of the suite that it reports
// each: the first failure must be that of the named spec, must carry the code of the
// cause, and must come soon. Then it restores the lab and proves that it is restored.
package faults

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// folder is where the catalogue lies: one file a fault, nothing else to register.
const folder = "faults/"

// soonEnough is how many seconds the suite may take, from its start on a lab that
// is broken, to report a fault whose cause is visible in the cluster.
const soonEnough = 30

// A Fault is one way in which a lab is broken, and how the suite must report it.
type Fault struct {
	// Name is the stem of its file.
	Name string `json:"-"`
	// Title says in one sentence what is broken; Why says how that comes about in
	// real life.
	Title string `json:"title"`
	Why   string `json:"why"`

	// Break is what is done to the lab before the suite is run, in order. During
	// is done while it runs, for what must break only after a step has begun.
	// Both are put back as they were once the suite has ended, strictly in reverse:
	// what reads another's state only when it starts is stopped before and started after.
	Break  []Action `json:"break,omitempty"`
	During []Action `json:"during,omitempty"`

	// Step is the step that is run, with those that it needs; see LAB_STEP.
	Step string `json:"step"`
	// Caught is how the suite must report the fault.
	Caught Expect `json:"caught"`
	// Within is how many seconds it may take for it, 30 if nothing is said.
	Within int `json:"within,omitempty"`
}

// Expect is what must report a fault, and with which codes; see firstFailure in
// verdict.json. No sentence is compared.
type Expect struct {
	// By is "environment check", "step 4" and the like, or "verdict" for what makes a
	// run partial and not failed.
	By string `json:"by"`
	// Code is the kind of the failure, Cause that of what blocked the step, if
	// something did.
	Code  snapshot.Code `json:"code"`
	Cause snapshot.Code `json:"cause,omitempty"`
	// JobSet is the version of JobSet that the suite must find, if the fault is of that.
	JobSet string `json:"jobset,omitempty"`
}

// byVerdict is Expect.By where the suite must not fail but call its verdict partial.
const byVerdict = "verdict"

func (f Fault) within() time.Duration {
	if f.Within > 0 {
		return time.Duration(f.Within) * time.Second
	}
	return soonEnough * time.Second
}

// Catalogue returns the faults of these names in this order, or all of them if
// none is named. Every file is read all the same: a slip in one is an error.
func Catalogue(names []string) ([]Fault, error) {
	var all []Fault
	var wrong []error
	for _, file := range fixtures.Names() {
		if !strings.HasPrefix(file, folder) {
			continue
		}
		content, err := fixtures.Read(file)
		if err != nil {
			return nil, err
		}
		fault, err := parse(strings.TrimSuffix(path.Base(file), ".yaml"), content)
		wrong = append(wrong, err)
		all = append(all, fault)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Fault
	for _, name := range names {
		at := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no fault %q; there are:\n%s", name, Listing(all))
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

func parse(name string, content []byte) (Fault, error) {
	fault := Fault{Name: name}
	if err := yaml.UnmarshalStrict(content, &fault); err != nil {
		return fault, fmt.Errorf("fixtures/%s%s.yaml cannot be read: %w", folder, name, err)
	}
	if wrong := fault.check(); len(wrong) > 0 {
		return fault, fmt.Errorf("fixtures/%s%s.yaml is wrong: %s", folder, name, strings.Join(wrong, "; "))
	}
	return fault, nil
}

func (f Fault) check() []string {
	var wrong []string
	for key, value := range map[string]string{"title": f.Title, "why": f.Why, "step": f.Step, "caught.by": f.Caught.By, "caught.code": string(f.Caught.Code)} {
		if strings.TrimSpace(value) == "" {
			wrong = append(wrong, key+" is missing")
		}
	}
	if len(f.Break)+len(f.During) == 0 {
		wrong = append(wrong, "it breaks nothing: break and during are missing")
	}
	inStep := strings.HasPrefix(f.Caught.By, "step ")
	if by := f.Caught.By; by != report.EnvironmentCheck && by != byVerdict && !inStep && by != "" {
		wrong = append(wrong, fmt.Sprintf("caught.by is %q, and it is %s, verdict or step and a number", by, report.EnvironmentCheck))
	}
	if f.Caught.Cause != "" && !inStep {
		wrong = append(wrong, "caught.cause is what blocks a step, and caught.by is none")
	}
	for _, list := range []struct {
		key     string
		actions []Action
	}{{"break", f.Break}, {"during", f.During}} {
		for i, action := range list.actions {
			if says := action.check(); says != "" {
				wrong = append(wrong, fmt.Sprintf("%s[%d] %s", list.key, i, says))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// Listing lists faults, one a line: name, title.
func Listing(all []Fault) string {
	var lines []string
	for _, fault := range all {
		lines = append(lines, fmt.Sprintf("  %-26s %s", fault.Name, fault.Title))
	}
	return strings.Join(lines, "\n")
}
