package workflows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repeat runs .ci/repeat in a folder where make notes that it was called, and lab-e2e
// leaves the verdict whose number is that of the run.
func repeat(t *testing.T, n string, verdicts ...string) (folder, said string, err error) {
	t.Helper()
	folder = t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("../repeat")
	if err != nil {
		t.Fatal(err)
	}
	write(".ci/repeat", string(script))
	write("bin/make", "#!/bin/sh\ntouch made\n")
	for i, verdict := range verdicts {
		write(fmt.Sprintf("verdicts/%d", i+1), verdict)
	}
	// --reports is the third word of what it is called with.
	write(".lab/bin/lab-e2e", "#!/bin/sh\ncp verdicts/${3##*/} $3/verdict.json\n")
	command := exec.Command(filepath.Join(folder, ".ci/repeat"), n)
	command.Env = []string{"PATH=" + filepath.Join(folder, "bin") + ":" + os.Getenv("PATH"), "LAB_KUBECONFIG=/of/the/lab"}
	out, err := command.CombinedOutput()
	return folder, string(out), err
}

const (
	good  = `{"verdict": "passed", "reason": "all", "seconds": 30, "suite": "c0ffee", "found": {"jobset": "v0.13.0"}}`
	part  = `{"verdict": "partial", "reason": "JobSet", "seconds": 31, "found": {}}`
	step6 = `{"verdict": "failed", "reason": "step 6", "seconds": 90, "found": {}, "firstFailure": {"by": "step 6", "code": "PodsNotRunning", "cause": "ImagePull", "message": "a pod waits\u001b[2J\nand more"}}`
	gone  = `{"verdict": "not run", "reason": "nothing listens", "seconds": 0, "found": {}}`
)

func TestRepeat(t *testing.T) {
	for name, c := range map[string]struct {
		n        string
		verdicts []string
		fails    bool
		says     []string
	}{
		"none fails":                        {"3", []string{good, part, good}, false, []string{"3 of 3 runs did not fail"}},
		"what some runs fail by is a flake": {"4", []string{good, step6, good, step6}, true, []string{"2 of 4 runs did not fail", "a flake, run 2, 4: step 6 (PodsNotRunning, ImagePull): a pod waits?[2J"}},
		"what all runs fail by is broken":   {"2", []string{step6, step6}, true, []string{"broken, every run: step 6"}},
		"runs that did not begin failed":    {"9", []string{good, gone}, true, []string{"no more runs: nothing listens", "1 of 9 runs did not fail", "the run as a whole"}},
		"a run that leaves no verdict":      {"2", nil, true, []string{"left no verdict"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, said, err := repeat(t, c.n, c.verdicts...)
			if (err != nil) != c.fails {
				t.Errorf("%v", err)
			}
			for _, words := range c.says {
				if !strings.Contains(said, words) {
					t.Errorf("it does not say %q, but:\n%s", words, said)
				}
			}
			history, err := os.ReadFile(filepath.Join(folder, ".lab/history/repeats.jsonl"))
			if err != nil || strings.Count(string(history), "\n") != 1 {
				t.Errorf("the history is %q, %v", history, err)
			}
		})
	}
}

func TestHowOftenIsCheckedFirst(t *testing.T) {
	for _, number := range []string{"", "abc", "0", "-1", "1.5", "12345", "3 4", "$(touch made)", "3;touch made", "\n", "3\n"} {
		folder, said, err := repeat(t, number)
		if err == nil || !strings.Contains(said, "from 1 to 9999") {
			t.Errorf("%q: %v: %s", number, err, said)
		}
		if _, err := os.Stat(filepath.Join(folder, "made")); err == nil {
			t.Errorf("%q: something was made", number)
		}
	}
}
