package steps

import (
	"bytes"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// These tests judge snapshots, so they need no cluster: go test ./e2e/steps
//
// testdata/solved.yaml is a real lab after all steps (see recordings_test.go).
// A variation changes one thing of it. One that is wrong must be refused, and its
// whole refusal, in English and Korean, must be what testdata/messages has; read
// those files aloud. One that
// is right but different must pass. Its name heads its failure.

var update = flag.Bool("update", false, "write what testdata/messages and testdata/check hold anew")

// A variation is one change of the solved lab.
type variation struct {
	name   string
	change func(s *snapshot.Snapshot)
}

// variations are those of one step, by its number.
type variations struct {
	Wrong, Right []variation
}

var Varied = map[int]variations{}

// newVariations adds variations of a step to Varied. It returns a value only so that it can
// stand as one declaration.
func newVariations(step int, v variations) bool { //nolint:unparam // see above
	Varied[step] = variations{append(Varied[step].Wrong, v.Wrong...), append(Varied[step].Right, v.Right...)}
	return true
}

// The test program carries its data, so that it can run anywhere.
//
//go:embed testdata
var testdata embed.FS

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func solved(t *testing.T) *snapshot.Snapshot {
	t.Helper()
	return recorded(t, "solved.yaml")
}

// parsed keeps the recordings as JSON, by name: reading YAML takes fifty times as long.
var parsed sync.Map

func recorded(t *testing.T, name string) *snapshot.Snapshot {
	t.Helper()
	content, known := parsed.Load(name)
	if !known {
		snapshot, err := snapshot.ParseSnapshot(read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		content = asJSON(t, snapshot)
		parsed.Store(name, content)
	}
	var copied snapshot.Snapshot
	if err := json.Unmarshal(content.([]byte), &copied); err != nil {
		t.Fatal(err)
	}
	return &copied
}

func asJSON(t *testing.T, snapshot *snapshot.Snapshot) []byte {
	t.Helper()
	content, err := json.Marshal(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestNoStepIsPassedOnAnEmptyLab(t *testing.T) {
	t.Parallel()
	for _, step := range Course.Steps {
		empty := &snapshot.Snapshot{Namespace: "ml", GPUResource: "nvidia.com/gpu"}
		if len(step.Judge(empty).Mismatches) == 0 {
			t.Errorf("%s is passed by an empty lab", step)
		}
	}
}

func TestEveryStepIsPassedOnTheSolvedLab(t *testing.T) {
	t.Parallel()
	for _, step := range Course.Steps {
		if check := step.Judge(solved(t)); len(check.Mismatches) > 0 {
			t.Errorf("%s: %v", step, check.Mismatches)
		}
	}
}

func TestWrongButCloseIsNotPassed(t *testing.T) {
	t.Parallel()
	for _, step := range Course.Steps {
		t.Run(step.Name, func(t *testing.T) {
			var told strings.Builder
			for _, wrong := range Varied[step.Number].Wrong {
				snapshot := solved(t)
				wrong.change(snapshot)
				check := step.Judge(snapshot)
				if len(check.Mismatches) == 0 {
					t.Errorf("%s: passed", wrong.name)
					continue
				}
				wellSaid(t, wrong.name, check.Mismatches[0].Text)
				told.WriteString(refused(wrong.name, check))
			}
			if len(Varied[step.Number].Wrong) < 6 {
				t.Errorf("only %d wrong variations; every step has at least 6", len(Varied[step.Number].Wrong))
			}
			golden(t, fmt.Sprintf("step%d.txt", step.Number), told.String())
		})
	}
}

func TestRightButDifferentIsPassed(t *testing.T) {
	t.Parallel()
	for _, step := range Course.Steps {
		t.Run(step.Name, func(t *testing.T) {
			for _, right := range Varied[step.Number].Right {
				snapshot := solved(t)
				right.change(snapshot)
				if same(t, snapshot, solved(t)) {
					t.Errorf("%s: varies nothing", right.name)
				}
				if check := step.Judge(snapshot); len(check.Mismatches) > 0 {
					t.Errorf("%s: refused: %v", right.name, check.Mismatches)
				}
			}
			if len(Varied[step.Number].Right) < 3 {
				t.Errorf("only %d right variations; every step has at least 3", len(Varied[step.Number].Right))
			}
		})
	}
}

// refused is what testdata/messages holds of one lab that is refused: the code, the
// sentences in both languages, the numbers, and the codes of what else does not hold.
func refused(name string, check *matchers.Check) string {
	first := check.Mismatches[0]
	var text strings.Builder
	fmt.Fprintf(&text, "## %s\n%s\n", name, first.Code)
	if first.KO != "" {
		fmt.Fprintln(&text, first.KO)
	}
	fmt.Fprintln(&text, first)
	if len(check.Mismatches) > 1 {
		var others []string
		for _, other := range check.Mismatches[1:] {
			others = append(others, string(other.Code))
		}
		fmt.Fprintln(&text, "besides:", strings.Join(others, ", "))
	}
	return text.String() + "\n"
}

// What a Check sees must survive being written and read: recorded snapshots are
// judged like live ones.
func TestAVerdictIsTheSameAfterYAML(t *testing.T) {
	t.Parallel()
	content, err := solved(t).YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := snapshot.ParseSnapshot(content)
	if err != nil {
		t.Fatal(err)
	}
	if !same(t, solved(t), again) {
		t.Error("a snapshot that was written and read is another one")
	}
}

func same(t *testing.T, a, b *snapshot.Snapshot) bool {
	t.Helper()
	return bytes.Equal(asJSON(t, a), asJSON(t, b))
}

// golden compares with a file in testdata/messages, or writes it.
func golden(t *testing.T, name, found string) {
	t.Helper()
	goldenFile(t, "messages/"+name, found)
}

// goldenFile is golden for a file anywhere below testdata.
func goldenFile(t *testing.T, name, found string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(found), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if wanted, err := testdata.ReadFile("testdata/" + name); err != nil || string(wanted) != found {
		t.Errorf("what is told differs from %s (go test ./e2e/steps -update writes it); it is now:\n%s", path, found)
	}
}
