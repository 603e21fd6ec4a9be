package workflows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A night must not be green on what it did not ask for.
func TestANightTakesNoMoreThanItAskedFor(t *testing.T) {
	const other = "every step passed, but Kueue is v0.20.0, the lab pins v0.19.2"
	for name, night := range map[string]struct {
		mirror, verdict, reason, kubernetes, jobset, kueue string
		makes                                              int
		says                                               string
	}{
		"as pinned":                   {"", "passed", "all", "v1.37.2", "v0.13.0", "v0.19.2", 0, ""},
		"partial, though as pinned":   {"", "partial", "only step 1 was asked for, and it passed", "v1.37.2", "v0.13.0", "v0.19.2", 0, "what the lab pins is what was asked for"},
		"another JobSet than pinned":  {"", "partial", "every step passed, but JobSet is v0.12.0, the lab pins v0.13.0", "v1.37.2", "v0.12.0", "v0.19.2", 0, "jobset is v0.12.0, and v0.13.0 was asked for"},
		"an earlier Kubernetes":       {"kubernetes-1.35", "passed", "all", "v1.35.8", "v0.13.0", "v0.19.2", 0, ""},
		"not that Kubernetes":         {"kubernetes-1.35", "passed", "all", "v1.37.2", "v0.13.0", "v0.19.2", 0, "kubernetes is v1.37.2, and v1.35.8 was asked for"},
		"a later Kueue":               {"kueue-0.20", "partial", other, "v1.37.2", "v0.13.0", "v0.20.0", 0, ""},
		"a later Kueue, and one step": {"kueue-0.20", "partial", "only step 1 was asked for, and it passed; Kueue is v0.20.0, the lab pins v0.19.2", "v1.37.2", "v0.13.0", "v0.20.0", 0, "the verdict is partial (only step 1"},
		"the pinned Kueue after all":  {"kueue-0.20", "passed", "all", "v1.37.2", "v0.13.0", "v0.19.2", 0, "kueue is v0.19.2, and v0.20.0 was asked for"},
		"a lab that fails":            {"", "failed", "step 6", "v1.37.2", "v0.13.0", "v0.19.2", 2, "made e2e"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			verdict := fmt.Sprintf(`{"verdict": %q, "reason": %q, "wanted": {"jobset": "v0.13.0", "kueue": "v0.19.2"}, "found": {"kubernetes": %q, "jobset": %q, "kueue": %q}}`,
				night.verdict, night.reason, night.kubernetes, night.jobset, night.kueue)
			made := fmt.Sprintf("#!/bin/sh\necho made $2\ncat >\"$LAB_REPORTS/verdict.json\" <<'END'\n%s\nEND\nexit %d\n", verdict, night.makes)
			if err := os.WriteFile(filepath.Join(folder, "make"), []byte(made), 0o755); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("../night")
			command.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "LAB_REPORTS=" + folder}
			if night.mirror != "" {
				command.Env = append(command.Env, "LAB_MIRROR=.ci/labs/"+night.mirror+".yaml")
			}
			said, err := command.CombinedOutput()
			if wanted := night.says == ""; (err == nil) != wanted || !strings.Contains(string(said), night.says) {
				t.Errorf("%v; it said:\n%s", err, said)
			}
		})
	}
}
