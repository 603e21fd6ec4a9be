package workflows

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// report runs .ci/report-issue with a gh that only notes how it was called, and
// answers a search for open issues with what is given.
func report(t *testing.T, open string, environment ...string) (called, told string, err error) {
	t.Helper()
	folder := t.TempDir()
	gh := "#!/bin/sh\nprintf '%s\\n' \"$*\" >>\"$NOTES\"\nif [ \"$2\" = list ]; then printf '%s\\n' \"$OPEN\"; fi\n[ -z \"$REFUSE\" ]\n"
	if err := os.WriteFile(filepath.Join(folder, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(folder, "notes")
	command := exec.Command("../report-issue")
	command.Env = append([]string{"PATH=" + folder + ":/usr/bin:/bin", "NOTES=" + notes, "OPEN=" + open,
		"GITHUB_REPOSITORY=lab/suite", "GITHUB_RUN_ID=42", "RESULTS=e2e success, faults failure, repeat success"}, environment...)
	said, err := command.CombinedOutput()
	content, _ := os.ReadFile(notes) // none if gh was not called
	return string(content), string(said), err
}

func TestANightThatFailsOpensAnIssue(t *testing.T) {
	called, told, err := report(t, "")
	if err != nil || !strings.Contains(called, "issue create --repo lab/suite --title The nightly run fails") ||
		!strings.Contains(called, "faults failure") || !strings.Contains(called, "https://github.com/lab/suite/actions/runs/42") {
		t.Errorf("gh was called so: %s\nit said: %s (%v)", called, told, err)
	}
}

func TestANightThatFailsAgainAddsToTheOpenIssue(t *testing.T) {
	called, told, err := report(t, "17")
	if err != nil || !strings.Contains(called, "issue comment 17 --repo lab/suite") || strings.Contains(called, "issue create") {
		t.Errorf("gh was called so: %s\nit said: %s (%v)", called, told, err)
	}
}

func TestAnIssueThatCannotBeSentIsToldOf(t *testing.T) {
	if called, told, err := report(t, "", "REFUSE=1"); err == nil || strings.Contains(called, "issue create") {
		t.Errorf("gh was called so: %s\nit said: %s (%v)", called, told, err)
	}
	if _, told, err := report(t, "", "RESULTS="); err == nil || !strings.Contains(told, "RESULTS") {
		t.Errorf("without results: %s (%v)", told, err)
	}
}

func TestADryRunSendsNothing(t *testing.T) {
	called, told, err := report(t, "17", "DRY_RUN=1")
	if err != nil || called != "" || !strings.Contains(told, "faults failure") {
		t.Errorf("gh was called so: %s\nit said: %s (%v)", called, told, err)
	}
}
