package answers

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/grade"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/e2e/steps"
)

// The snapshots that the answers were judged by on a real lab; see recording.go.
//
//go:embed testdata
var testdata embed.FS

func recording(name string) (*snapshot.Snapshot, error) {
	packed, err := testdata.ReadFile("testdata/" + name + recordingEnding)
	if err != nil {
		return nil, fmt.Errorf("it is not recorded; on a lab that stands: lab-e2e answers --record e2e/answers/testdata: %w", err)
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(unpacker)
	if err != nil {
		return nil, err
	}
	return snapshot.ParseSnapshot(content)
}

var solvedLab = sync.OnceValues(func() (*snapshot.Snapshot, error) { return recording(solvedRecording) })

// replayed is the snapshot that an answer was judged by.
func replayed(t *testing.T, a Answer) *snapshot.Snapshot {
	t.Helper()
	s, err := recording(a.Name)
	if err != nil {
		t.Fatal(err)
	}
	if !a.OnSolvedLab {
		return s
	}
	solved, err := solvedLab()
	if err != nil {
		t.Fatal(err)
	}
	// It is read once; judging changes nothing, and AsChecked only which events there are.
	whole := *solved
	whole.Events = slices.Clone(whole.Events)
	whole.Files, whole.FilesUnread = s.Files, s.FilesUnread
	return &whole
}

// Every answer is judged as its file says, by a run and by a check, which sees less.
func TestAnswersAreJudgedRightly(t *testing.T) {
	t.Parallel()
	all, err := Catalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range all {
		t.Run(answer.Name, func(t *testing.T) {
			t.Parallel()
			if found := byRun(answer, replayed(t, answer)); found != answer.Verdict {
				t.Errorf("%s: a run says %s, and should say %s", answer.Title, found, answer.Verdict)
			}
			checked := grade.GradeStep(answer.Step, labtest.AsChecked(replayed(t, answer)))
			if found := verdictOf(checked.Code, checked.Passed); found != answer.Verdict {
				t.Errorf("%s: a check says %s, and should say %s: %s", answer.Title, found, answer.Verdict, checked.EN)
			}
		})
	}
}

func TestEveryStepHasAnswersOfBothKinds(t *testing.T) {
	t.Parallel()
	all, err := Catalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps.Course.Steps {
		right, wrong := 0, 0
		for _, answer := range all {
			switch {
			case answer.Step.Name != step.Name:
			case answer.Verdict == passed:
				right++
			default:
				wrong++
			}
		}
		if right < 6 || wrong < 6 {
			t.Errorf("%s has %d right and %d wrong answers; it should have 6 of each", step, right, wrong)
		}
	}
}

// A recording of an answer that is not in the catalogue any more proves nothing.
func TestEveryRecordingIsOfAnAnswer(t *testing.T) {
	t.Parallel()
	all, err := Catalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(testdata, "testdata/*"+recordingEnding)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), recordingEnding)
		if name != solvedRecording && !slices.ContainsFunc(all, func(a Answer) bool { return a.Name == name }) {
			t.Errorf("%s is of no answer in fixtures/answers: rm e2e/answers/%s", name, file)
		}
	}
}

func TestAnAnswersFileSaysAllThatIsNeeded(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct{ name, script, says string }{
		{"helo-world", "# typed\n# check: passed\n", "no step's name"},
		{"hello-world", "# check: passed\n", "says what people do"},
		{"hello-world", "# typed\nkubectl apply\n# check: passed\n", "check: is missing"},
		{"report-by-hand", "# typed\n# check: passed\n", "lab: solved is missing"},
	} {
		if _, err := parse(wrong.name, wrong.script); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%s: %q gives %v", wrong.name, wrong.script, err)
		}
	}
	right, err := parse("big-in-two-lines", "# What is typed:\n# over two lines.\n# check: ReasonNotInFile\n# lab: solved\n# More: not the title.\ntouch big.txt\n")
	if err != nil || right.Title != "What is typed: over two lines." || right.Verdict != "ReasonNotInFile" || !right.OnSolvedLab || right.Step.Number != 7 {
		t.Errorf("%+v, %v", right, err)
	}
}
