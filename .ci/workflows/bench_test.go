package workflows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bench runs .ci/bench in a folder where lab and lab-e2e say what they measured, and the
// history is that of these runs.
func bench(t *testing.T, ready, restart float64, history ...string) (folder, said string, err error) {
	t.Helper()
	folder = t.TempDir()
	script, err := os.ReadFile("../bench")
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		".ci/bench":                          string(script),
		"bin/make":                           "#!/bin/sh\n",
		".lab/bin/lab":                       fmt.Sprintf("#!/bin/sh\necho ' ✓ cluster'\necho '{\"plain\":120,\"ready\":%g,\"e2e\":150,\"cpu\":90,\"restart\":%g}'\n", ready, restart),
		".lab/gsb-jobset-bench/verdict.json": `{"suite": "c0ffee", "seconds": 110, "steps": [{"seconds": 20.5}, {"seconds": 9.5}], "mistakes": [{"seconds": 99}]}`,
		".lab/history/bench.jsonl":           strings.ReplaceAll(strings.Join(history, "\n")+"\n", "HERE", here(t)),
	} {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(filepath.Join(folder, ".ci/bench"))
	command.Env = []string{"PATH=" + filepath.Join(folder, "bin") + ":" + os.Getenv("PATH")}
	out, err := command.CombinedOutput()
	return folder, string(out), err
}

// here is what .ci/bench calls this machine.
func here(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import importlib.machinery as m, sys; sys.dont_write_bytecode = True; print(m.SourceFileLoader('bench', '../bench').load_module().machine())").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestBenchWarnsOfWhatBecameSlow(t *testing.T) {
	run := func(machine string, ready, restart float64) string {
		return fmt.Sprintf(`{"machine": %q, "figures": {"ratio": 4, "ready": %g, "plain": 120, "steps": 30, "mistakes": 80, "e2e": 150, "cpu": 90, "restart": %g}}`, machine, ready, restart)
	}
	at30 := []string{run("HERE", 30, 50), run("HERE", 30, 50), run("HERE", 30, 50), run("HERE", 30, 50), run("HERE", 30, 50)}
	for name, c := range map[string]struct {
		ready, restart float64
		history        []string
		says, unsaid   string
	}{
		"the first run":                        {30, 50, nil, "steps", "WARNING"},
		"as ever":                              {30, 50, at30, "4.0 times", "WARNING"},
		"a fifth slower is not more than that": {30, 60, at30, "the last 5", "WARNING"},
		"more than a fifth slower":             {30, 60.1, at30, "WARNING: node restart until what ran runs again: 60.1 s, 20 % worse", "WARNING: make e2e"},
		"faster":                               {20, 30, at30, "6.0 times", "WARNING"},
		"less ahead of the plain way":          {38, 50, at30, "WARNING: lab ready, images cached, against the plain way: 3.2 times, 27 % worse", "WARNING: node"},
		"on another machine":                   {30, 90, []string{run("elsewhere", 30, 50), run("elsewhere", 30, 50)}, "the last 0", "WARNING"},
		"one slow run is no median":            {30, 90, []string{run("HERE", 30, 90), run("HERE", 30, 50), run("HERE", 30, 50)}, "WARNING: node restart", ""},
		"what is longer ago than five runs":    {30, 90, append([]string{run("HERE", 30, 50), run("HERE", 30, 50), run("HERE", 30, 50)}, run("HERE", 30, 90), run("HERE", 30, 90), run("HERE", 30, 90), run("HERE", 30, 50), run("HERE", 30, 50)), "90.0", "WARNING"},
		"half a line":                          {30, 60.1, append(at30, `{"machine": "HERE", "fig`), "WARNING: node restart", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, said, err := bench(t, c.ready, c.restart, c.history...)
			if err != nil || !strings.Contains(said, c.says) || c.unsaid != "" && strings.Contains(said, c.unsaid) {
				t.Errorf("%v; it was to say %q and not %q:\n%s", err, c.says, c.unsaid, said)
			}
			kept, err := os.ReadFile(filepath.Join(folder, ".lab/history/bench.jsonl"))
			if err != nil || !strings.Contains(string(kept), `"steps": 30.0, "mistakes": 80.0`) {
				t.Errorf("the history is %q, %v", kept, err)
			}
		})
	}
}
