package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExpressions(t *testing.T) {
	known := values{"matrix": values{"lab": "kueue-0.20"}, "inputs": values{"fresh": true, "ssh": ""}, "secrets": values{}, "job failed": true}
	for text, wanted := range map[string]string{
		"as it is": "as it is",
		"${{ matrix.lab && format('.ci/labs/{0}.yaml', matrix.lab) }}":       ".ci/labs/kueue-0.20.yaml",
		"${{ inputs.fresh && '1' || '' }}":                                   "1",
		"${{ inputs.ssh && '1' || '' }}":                                     "",
		"a ${{ inputs.ssh || 'none' }}, b ${{ matrix.lab == 'KUEUE-0.20' }}": "a none, b true",
		"${{ secrets.kubeconfig }}":                                          "",
		"${{ !inputs.ssh }}":                                                 "true",
		"${{ failure() }} ${{ success() }} ${{ always() }}":                  "true false true",
	} {
		if got, err := known.resolve(text); err != nil || got != wanted {
			t.Errorf("%s is %q (%v), not %q", text, got, err, wanted)
		}
	}
	for _, text := range []string{"${{ github.token }}", "${{ needs.e2e.result }}", "${{ hashFiles('go.sum') }}", "${{ matrix.labs }}"} {
		if got, err := known.resolve(text); !errors.Is(err, errOnlyGitHub) {
			t.Errorf("%s is %q (%v), and only GitHub knows it", text, got, err)
		}
	}
}

const workflow = `
on:
  workflow_call:
    inputs:
      wait: {type: string, default: 5m}
jobs:
  first:
    runs-on: ubuntu-24.04
    env: {OF: job}
    outputs:
      verdict: ${{ steps.it.outputs.verdict }}
    steps:
      - run: echo "$HOME" >home; [ -d "$HOME" ]; [ "$OF" = step ]; [ -z "$LEAKED" ]; [ "$WAIT" = "$WANTED" ]
        env: {OF: step, WAIT: "${{ inputs.wait }}", WANTED: 5m}
      - id: it
        run: echo verdict=partial >>"$GITHUB_OUTPUT"; exit 3
      - run: touch after
      - if: always()
        run: echo "## told" >>"$GITHUB_STEP_SUMMARY"; touch always
      - if: failure()
        run: touch failure
`

func TestAJobRunsAsOnARunner(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("LEAKED", "from this environment")
	if err := os.WriteFile("w.yml", []byte(workflow), 0o644); err != nil {
		t.Fatal(err)
	}
	failed, err := runJob("w.yml", "first", nil)
	if err != nil || !failed {
		t.Errorf("failed: %v, %v", failed, err)
	}
	there, err := filepath.Glob("*")
	if err != nil || strings.Join(there, " ") != "always failure home w.yml" {
		t.Errorf("the steps left %q (%v)", there, err)
	}
	if home, _ := os.ReadFile("home"); strings.TrimSpace(string(home)) == os.Getenv("HOME") {
		t.Errorf("HOME was %s, which is not a new one", home)
	}
	// What is given for an expression counts before what the workflow declares.
	if err := os.Remove("failure"); err != nil {
		t.Fatal(err)
	}
	if failed, err := runJob("w.yml", "first", []string{"inputs.wait=1m", "WANTED=1m"}); err != nil || !failed {
		t.Errorf("failed: %v, %v", failed, err)
	}
	if _, err := runJob("w.yml", "none", nil); err == nil {
		t.Error("a job that is not there was run")
	}
}

// Every line of the workflows is one that this program can run.
func TestTheWorkflowsAreRead(t *testing.T) {
	paths, err := filepath.Glob("../../../.github/workflows/*.yml")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		all, err := jobs(path, map[string]string{"needs.e2e.result": "success", "needs.faults.result": "success", "needs.hostile.result": "success", "needs.repeat.result": "success",
			"github.token": "secret"})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range all {
			for _, step := range job.Steps {
				if _, unknown := job.environment(step); len(unknown) > 0 {
					t.Errorf("%s: %s: %q", path, job.name, unknown)
				}
				if _, err := job.wanted(step); err != nil {
					t.Errorf("%s: %s: %v", path, job.name, err)
				}
			}
		}
	}
}
