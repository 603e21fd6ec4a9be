package e2e

import (
	"fmt"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/lab"
)

// listing tells of steps for lab authors: one line each, and then for each what
// its check refuses and what it accepts, which the tests hold it to, and the
// mistakes that the walk really makes.
func listing(steps []lab.Step) string {
	var text strings.Builder
	fmt.Fprintln(&text, lab.Listing(steps))
	for _, step := range steps {
		fmt.Fprintf(&text, "\n%s\n", step)
		tell(&text, "is refused", names(varied[step.Number].wrong))
		tell(&text, "is accepted", names(varied[step.Number].right))
		var made []string
		for _, mistake := range course.Mistakes {
			if mistake.Step == step.Number {
				made = append(made, mistake.Name+": "+mistake.Symptom)
			}
		}
		tell(&text, "is tried on the cluster", made)
	}
	return strings.TrimRight(text.String(), "\n")
}

func names(all []variation) []string {
	var names []string
	for _, v := range all {
		names = append(names, v.name)
	}
	return names
}

func tell(text *strings.Builder, what string, things []string) {
	if len(things) > 0 {
		fmt.Fprintf(text, "  %s\n    - %s\n", what, strings.Join(things, "\n    - "))
	}
}

func TestListingTellsWhatAStepRefusesAndAccepts(t *testing.T) {
	told := listing(course.Steps)
	for _, line := range []string{
		"6  train    큐에 넣으면 한 덩어리로 입장한다\n",
		"\nStep 6 train «큐에 넣으면 한 덩어리로 입장한다»\n  is refused\n    - no queue label\n",
		"\n  is accepted\n    - the podSets in the other order\n",
		"\n  is tried on the cluster\n    - train-label-on-job-template: Kueue admits",
	} {
		if !strings.Contains(told, line) {
			t.Errorf("the listing does not have %q:\n%s", line, told)
		}
	}
	if one := listing(course.Steps[3:4]); strings.Contains(one, "hello") || !strings.Contains(one, "maxRestarts 3") {
		t.Errorf("the listing of one step is\n%s", one)
	}
}
