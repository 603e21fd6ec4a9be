package main

import (
	"fmt"
	"strings"

	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/steps"
)

// listing names steps for lab authors: a line each, then for each what it asks for
// and the mistakes that a run really makes.
func listing(all []lab.Step) string {
	var out strings.Builder
	fmt.Fprintln(&out, lab.Listing(all))
	for _, step := range all {
		fmt.Fprintf(&out, "\n%s\n  %s\n", step, step.Task)
		for _, mistake := range steps.Course.Mistakes {
			if mistake.Step == step.Number {
				fmt.Fprintf(&out, "  - mistake %s: %s\n", mistake.Name, mistake.Symptom)
			}
		}
	}
	fmt.Fprint(&out, "\nWhat each check refuses, with its code and both sentences: e2e/steps/testdata/messages")
	return out.String()
}
