package e2e

import (
	"embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/lab"
)

// These tests judge snapshots, so they need no cluster: go test ./e2e -run '^TestJudge'
//
// testdata/walked.yaml is the lab after all eight steps. A variation changes one
// thing of it. One that is wrong must be refused, and its whole refusal must be
// what testdata/messages has; read those files aloud. One that is right but
// different must pass.

var update = flag.Bool("update", false, "write testdata/messages anew")

// A variation is one change of the walked lab.
type variation struct {
	name   string
	change func(s *lab.Snapshot)
}

// variations are those of one step, by its number.
type variations struct {
	wrong, right []variation
}

var varied = map[int]variations{}

// vary registers a step's variations. It returns a value only so that it can
// stand as one declaration.
func vary(step int, v variations) bool { //nolint:unparam // see above
	varied[step] = v
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

func walked(t *testing.T) *lab.Snapshot {
	t.Helper()
	snapshot, err := lab.ParseSnapshot(read(t, "walked.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func TestJudgeRefusesAnEmptyLab(t *testing.T) {
	for _, step := range lab.Steps() {
		empty := &lab.Snapshot{Namespace: "ml", GPUResource: "nvidia.com/gpu"}
		if step.Judge(empty) == "" {
			t.Errorf("%s is passed by an empty lab", step)
		}
	}
}

func TestJudgePassesTheWalkedLab(t *testing.T) {
	for _, step := range lab.Steps() {
		if refusal := step.Judge(walked(t)); refusal != "" {
			t.Errorf("%s: %s", step, refusal)
		}
	}
}

func TestJudgeRefusesWrongButClose(t *testing.T) {
	for _, step := range lab.Steps() {
		t.Run(step.Name, func(t *testing.T) {
			var told strings.Builder
			for _, wrong := range varied[step.Number].wrong {
				snapshot := walked(t)
				wrong.change(snapshot)
				refusal := step.Judge(snapshot)
				if refusal == "" {
					t.Errorf("%s: passed", wrong.name)
				}
				fmt.Fprintf(&told, "## %s\n\n%s\n\n", wrong.name, refusal)
			}
			if len(varied[step.Number].wrong) < 4 {
				t.Errorf("only %d wrong variations", len(varied[step.Number].wrong))
			}
			golden(t, fmt.Sprintf("step%d.txt", step.Number), told.String())
		})
	}
}

func TestJudgePassesRightButDifferent(t *testing.T) {
	for _, step := range lab.Steps() {
		t.Run(step.Name, func(t *testing.T) {
			for _, right := range varied[step.Number].right {
				snapshot := walked(t)
				right.change(snapshot)
				if refusal := step.Judge(snapshot); refusal != "" {
					t.Errorf("%s: refused: %s", right.name, refusal)
				}
			}
			if len(varied[step.Number].right) < 2 {
				t.Errorf("only %d right variations", len(varied[step.Number].right))
			}
		})
	}
}

// What a Check sees must survive being written and read: recorded snapshots are
// judged like live ones.
func TestJudgeSurvivesYAML(t *testing.T) {
	first, err := walked(t).YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := lab.ParseSnapshot(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := again.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Error("a snapshot that was written and read is another one")
	}
}

// golden compares with a file in testdata/messages, or writes it.
func golden(t *testing.T, name, found string) {
	t.Helper()
	path := filepath.Join("testdata", "messages", name)
	if *update {
		if err := os.WriteFile(path, []byte(found), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(read(t, "messages/"+name)) != found {
		t.Errorf("the messages differ from %s (go test ./e2e -run '^TestJudge' -update writes it); they are now:\n%s", path, found)
	}
}

// The parts of a snapshot that variations change.

func jobSet(s *lab.Snapshot, name string) *jobsetv1.JobSet {
	for i := range s.JobSets {
		if s.JobSets[i].Name == name {
			return &s.JobSets[i]
		}
	}
	panic("no JobSet " + name + " in the walked lab")
}

func role(s *lab.Snapshot, jobSetName, name string) *jobsetv1.ReplicatedJob {
	roles := jobSet(s, jobSetName).Spec.ReplicatedJobs
	for i := range roles {
		if roles[i].Name == name {
			return &roles[i]
		}
	}
	panic("no role " + name + " in JobSet " + jobSetName)
}

func pod(s *lab.Snapshot, prefix string) *corev1.Pod {
	for i := range s.Pods {
		if strings.HasPrefix(s.Pods[i].Name, prefix) {
			return &s.Pods[i]
		}
	}
	panic("no pod " + prefix + "… in the walked lab")
}

// replace changes a file, and panics if it changes nothing: a variation that
// varies nothing would prove nothing.
func replace(s *lab.Snapshot, file, from, to string) {
	changed := strings.ReplaceAll(s.Files[file], from, to)
	if changed == s.Files[file] {
		panic(fmt.Sprintf("%s has no %q", file, from))
	}
	s.Files[file] = changed
}
