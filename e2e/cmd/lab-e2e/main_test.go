package main

import (
	"os"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/steps"
)

// The test program is lab-e2e itself where it is not called as go test calls it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(m.Run())
	}
	main()
}

func TestListingNamesStepsAndMistakes(t *testing.T) {
	t.Parallel()
	all := listing(steps.Course.Steps)
	for _, line := range []string{"6  train    큐에 넣으면 한 덩어리로 입장한다\n", "\nStep 6 train «큐에 넣으면 한 덩어리로 입장한다»\n",
		"\n  - mistake train-label-on-job-template: Kueue admits"} {
		if !strings.Contains(all, line) {
			t.Errorf("the listing does not have %q:\n%s", line, all)
		}
	}
	if one := listing(steps.Course.Steps[3:4]); strings.Contains(one, "hello") || !strings.Contains(one, "fragile") {
		t.Errorf("the listing of one step is\n%s", one)
	}
}
