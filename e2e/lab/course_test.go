package lab

import (
	"strings"
	"testing"
)

var eight = Course{Steps: []Step{
	{Number: 1, Name: "hello"}, {Number: 2, Name: "dns", Needs: []int{1}}, {Number: 3, Name: "labels", Needs: []int{2}},
	{Number: 4, Name: "fragile", Title: "하나가 죽으면 전부 다시 시작한다"},
}}

func TestAPlanOfOneStepDoesWhatItNeedsFirst(t *testing.T) {
	t.Parallel()
	for wanted, first := range map[string]int{"1": 0, "dns": 1, "3": 2, "fragile": 0} {
		plan, err := eight.Plan(wanted)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Whole || len(plan.Asked) != 1 || len(plan.First) != first {
			t.Errorf("STEP=%s asks for %d and does %d first, not %d", wanted, len(plan.Asked), len(plan.First), first)
		}
	}
	if plan, err := eight.Plan(""); err != nil || !plan.Whole || len(plan.Asked) != len(eight.Steps) {
		t.Errorf("no STEP is not the whole run: %+v, %v", plan, err)
	}
}

func TestAStepThatIsNoneListsThemAll(t *testing.T) {
	t.Parallel()
	for _, wanted := range []string{"9", "0", "04", "four", "1,2", "4 "} {
		_, err := eight.Plan(wanted)
		if err == nil || !strings.Contains(err.Error(), "하나가 죽으면 전부 다시 시작한다") || !strings.Contains(err.Error(), "STEP="+wanted) {
			t.Errorf("STEP=%s: %v", wanted, err)
		}
	}
}
