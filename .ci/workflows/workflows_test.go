// Package workflows holds the GitHub workflows to this project's own rules, which
// are stricter than GitHub's; actionlint, which it is built on, knows those.
package workflows

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
)

var (
	pinned  = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	version = regexp.MustCompile(`uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	oneMake = regexp.MustCompile(`^make ([a-z][a-z0-9-]*)( [A-Z]+=[0-9a-z]+)*$`)
	// A script says in itself what it needs and makes that first.
	oneScript = regexp.MustCompile(`^\.ci/([a-z][a-z0-9-]*)( [a-z0-9-]+)*$`)
)

// broken lists what a workflow does against the rules.
func broken(content []byte, targets []string) []string {
	workflow, errs := actionlint.Parse(content)
	if len(errs) > 0 {
		return []string{errs[0].Error()}
	}
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if workflow.Permissions == nil || workflow.Permissions.All != nil || len(workflow.Permissions.Scopes) > 0 {
		say("the workflow does not begin with no permission at all: permissions: {}")
	}
	if workflow.Concurrency == nil {
		say("the workflow has no concurrency group")
	}
	for id, job := range workflow.Jobs {
		switch {
		case job.Permissions == nil || job.Permissions.All != nil:
			say("job %s does not name each permission it has", id)
		default:
			for scope, has := range job.Permissions.Scopes {
				if has.Value.Value == "write" && (scope != "issues" || id != "report") {
					say("job %s may write %s", id, scope)
				}
			}
		}
		if job.TimeoutMinutes == nil || job.TimeoutMinutes.Value <= 0 || job.TimeoutMinutes.Value > 90 {
			say("job %s has no timeout of up to 90 minutes", id)
		}
		for _, step := range job.Steps {
			switch does := step.Exec.(type) {
			case *actionlint.ExecAction:
				if !pinned.MatchString(does.Uses.Value) {
					say("job %s uses %s, which is not pinned by a commit", id, does.Uses.Value)
				}
			case *actionlint.ExecRun:
				line := strings.TrimSpace(does.Run.Value)
				if made := oneMake.FindStringSubmatch(line); made != nil {
					if !slices.Contains(targets, made[1]) {
						say("job %s makes %s, which the Makefile does not", id, made[1])
					}
				} else if script := oneScript.FindStringSubmatch(line); script == nil {
					say("job %s runs %q, which is not one make target or one script of .ci", id, line)
				} else if info, err := os.Stat("../" + script[1]); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
					say("job %s runs .ci/%s, which is no script", id, script[1])
				}
			}
		}
	}
	for _, line := range strings.Split(string(content), "\n") {
		if strings.Contains(line, "uses: ") && !strings.HasPrefix(strings.TrimSpace(line), "#") && !version.MatchString(line) {
			say("%q does not say behind the commit which version it is", strings.TrimSpace(line))
		}
	}
	return wrong
}

func targets(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):`).FindAllStringSubmatch(string(content), -1) {
		found = append(found, strings.Fields(match[1])...)
	}
	return found
}

func files(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../.github/workflows/*")
	if err != nil || len(paths) < 3 {
		t.Fatalf("the workflows are %q, %v", paths, err)
	}
	found := map[string][]byte{}
	for _, path := range paths {
		if found[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestWorkflowsKeepTheRules(t *testing.T) {
	for path, content := range files(t) {
		for _, wrong := range broken(content, targets(t)) {
			t.Errorf("%s: %s", path, wrong)
		}
	}
}

// What a nightly lab is made from is a file, and no file lies there unused.
func TestEveryLabOfTheMatrixIsAFile(t *testing.T) {
	workflow, _ := actionlint.Parse(files(t)["../../.github/workflows/nightly.yml"])
	var wanted []string
	for _, value := range workflow.Jobs["e2e"].Strategy.Matrix.Rows["lab"].Values {
		if name := strings.Trim(value.String(), `"`); name != "" {
			wanted = append(wanted, "../labs/"+name+".yaml")
		}
	}
	found, err := filepath.Glob("../labs/*")
	slices.Sort(wanted)
	if err != nil || !slices.Equal(found, wanted) {
		t.Errorf("the matrix names %q, there are %q (%v)", wanted, found, err)
	}
}

// change is one thing that somebody might do to a workflow.
type change struct{ name, from, to, told string }

func TestTheRulesRefuse(t *testing.T) {
	nightly := string(files(t)["../../.github/workflows/nightly.yml"])
	for _, c := range []change{
		{"a tag for a commit", "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "actions/checkout@v7", "not pinned by a commit"},
		{"half a commit", "@3d3c42e5aac5ba805825da76410c181273ba90b1", "@3d3c42e", "not pinned by a commit"},
		{"a commit of no version", " # v7.0.1", "", "which version it is"},
		{"no timeout", "    timeout-minutes: 60\n", "", "job e2e has no timeout"},
		{"six hours", "timeout-minutes: 60", "timeout-minutes: 360", "job e2e has no timeout"},
		{"all permissions for all jobs", "permissions: {}\n", "permissions: write-all\n", "no permission at all"},
		{"permissions left to a default", "permissions: {}\n", "", "no permission at all"},
		{"a job that may write the code", "contents: read", "contents: write", "may write contents"},
		{"no concurrency group", "concurrency:\n  group: nightly\n  cancel-in-progress: false\n", "", "no concurrency group"},
		{"logic in a workflow", "run: .ci/night", "run: .ci/night || true", "not one make target or one script"},
		{"a pipe", "run: .ci/summary", "run: .ci/summary >> $GITHUB_STEP_SUMMARY", "not one make target or one script"},
		{"an option of make", "run: make faults", "run: make -k faults", "not one make target or one script"},
		{"a target that is none", "run: make faults", "run: make fault", "which the Makefile does not"},
		{"a script that is none", "run: .ci/night", "run: .ci/nights", "which is no script"},
		{"a folder for a script", "run: .ci/night", "run: .ci/labs", "which is no script"},
		{"a script of somewhere else", "run: .ci/night", "run: .ci/../night", "not one make target or one script"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.ReplaceAll(nightly, c.from, c.to)
			if changed == nightly {
				t.Fatalf("nightly.yml has no %q", c.from)
			}
			if wrong := broken([]byte(changed), targets(t)); !strings.Contains(strings.Join(wrong, "\n"), c.told) {
				t.Errorf("%q does not say …%s…", wrong, c.told)
			}
		})
	}
}

// make lint must be red on a broken workflow; this is what it runs.
func TestActionlintRefuses(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nightly := string(files(t)["../../.github/workflows/nightly.yml"])
	if errs, err := linter.Lint("nightly.yml", []byte(nightly), nil); err != nil || len(errs) > 0 {
		t.Fatalf("as it is: %v, %v", errs, err)
	}
	for _, c := range []change{
		{"a job that is not there", "needs: [e2e, faults, ", "needs: [e2e, fault, ", "fault"},
		{"a key that is none", "runs-on: ubuntu-24.04", "run-on: ubuntu-24.04", "runs-on"},
		{"a runner that is none", "ubuntu-24.04", "ubuntu-9", "ubuntu-9"},
		{"a matrix value that is none", "matrix.lab ||", "matrix.labs ||", "labs"},
		{"a permission that is none", "issues: write", "issue: write", "issue"},
		{"a cron line that is none", "17 18 * * *", "17 28 * * *", "CRON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.ReplaceAll(nightly, c.from, c.to)
			errs, err := linter.Lint("nightly.yml", []byte(changed), nil)
			if err != nil {
				t.Fatal(err)
			}
			if changed == nightly || len(errs) == 0 || !strings.Contains(errs[0].Message, c.told) {
				t.Errorf("%v does not say …%s…", errs, c.told)
			}
		})
	}
}
