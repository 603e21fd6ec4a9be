package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/report"
)

// Whatever writes reports writes only into a folder that is marked as one of them: a name
// is no mark, and a folder that one of them has marked is good for the others.
func TestNoCommandReplacesWhatTheSuiteDidNotWrite(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"run"}, {"faults", "quota-2"}, {"answers", "report-by-hand"}, {"check"}} {
		for _, name := range []string{"report.html", "faults.json", "answers/notes.txt", "verdict.json"} {
			run := prepared(t, kubeconfigTo(t, "https://127.0.0.1:1"), command...)
			run.Env = append(run.Env, "LAB_REPORTS="+t.TempDir())
			reports := strings.TrimPrefix(run.Env[len(run.Env)-1], "LAB_REPORTS=")
			path := filepath.Join(reports, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
			_ = run.Run() // the status is looked at below
			if found := run.ProcessState.ExitCode(); found != report.ExitNotRun || !strings.Contains(run.told.String(), "did not write") {
				t.Errorf("%s beside somebody's %s: exit status %d; it said:\n%s", command, name, found, run.told)
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
				t.Errorf("%s: somebody's %s is now %q, %v", command, name, content, err)
			}
			if left, err := os.ReadDir(reports); err != nil || len(left) != 1 {
				t.Errorf("%s: beside somebody's %s lies %v, %v", command, name, left, err)
			}
		}
	}
}
