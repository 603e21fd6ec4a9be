// Package grade says to a learner, step by step, what is passed and what is missing, in
// Korean and in English. It only reads.
package grade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Grading is the result for a learner: step by step what is passed, and
// what is missing. Its JSON is for the platform that shows a lab; the keys stay.
type Grading struct {
	// Schema changes when a key's meaning does.
	Schema int  `json:"schema"`
	Passed bool `json:"passed"` // every step that was asked for
	// Suite is the commit that the suite was built from.
	Suite string `json:"suite"`
	// Cluster is the API server's URL, and WorkDir the directory that stands for
	// /root/gsb-jobset.
	Cluster string `json:"cluster,omitempty"`
	WorkDir string `json:"workDirectory,omitempty"`
	// WorkDirMissing says that there is no such directory, so that no step's file is there.
	WorkDirMissing bool `json:"workDirectoryMissing,omitempty"`
	// Error is why nothing could be looked at; there are no steps then.
	Error string `json:"error,omitempty"`
	// Code is the kind of Error: that of a finding of the environment check. It is empty
	// where the settings are wrong.
	Code snapshot.Code `json:"code,omitempty"`
	// Notes say what is so of the whole lab: that its node restarted.
	Notes []snapshot.Text `json:"notes,omitempty"`
	Steps []Grade         `json:"steps"`

	// judged and looked are what was graded and by what, for the page.
	judged []lab.Step
	looked *snapshot.Snapshot
}

// A Grade is the result of one step. The words say that it is
// passed, or the first thing that is missing.
type Grade struct {
	Step   int    `json:"step"`
	Name   string `json:"name"`
	Title  string `json:"title"`
	Passed bool   `json:"passed"`
	// Code is the kind of the first thing that is missing; empty if the step is passed.
	Code snapshot.Code `json:"code,omitempty"`
	// Whose trouble that is, "learner" or "lab"; empty if the step is passed. Of the lab's,
	// Cause is the kind, and the first of Notes says it.
	Whose string        `json:"whose,omitempty"`
	Cause snapshot.Code `json:"cause,omitempty"`
	snapshot.Text
	// Notes tell what was left out because a client that only reads cannot see it.
	Notes []snapshot.Text `json:"notes,omitempty"`
}

var wordsOfPassed = snapshot.Text{KO: "통과했습니다.", EN: "Passed."}

// GradeStep judges the step for its learner.
func GradeStep(s lab.Step, snapshot *snapshot.Snapshot) Grade {
	grade := Grade{Step: s.Number, Name: s.Name, Title: s.Title}
	check := s.Judge(snapshot)
	// Of a step that is not passed, what a reader cannot see comes after the reason.
	for _, left := range check.Inconclusive {
		grade.Notes = append(grade.Notes, left.Text)
	}
	if first := check.First(); first == nil {
		grade.Passed, grade.Text = true, wordsOfPassed
	} else {
		grade.Code, grade.Text, grade.Whose = first.Code, first.Text, OfLearner
		if held := labsFault(s, snapshot, first.Code); held.Code != "" {
			grade.Whose, grade.Cause = OfLab, held.Code
			grade.Notes = slices.Insert(grade.Notes, 0, faultText(held))
		}
	}
	return grade
}

// GradeAll judges steps by one snapshot.
func GradeAll(steps []lab.Step, snapshot *snapshot.Snapshot) Grading {
	grading := Grading{Schema: 1, Passed: true, Suite: report.Commit, Steps: []Grade{}, judged: steps, looked: snapshot}
	for _, step := range steps {
		grade := GradeStep(step, snapshot)
		if lacks := forbiddenTo(step, snapshot); len(lacks) > 0 {
			grade = ungraded(step, lacks)
		}
		grading.Passed = grading.Passed && grade.Passed
		grading.Steps = append(grading.Steps, grade)
	}
	grading.sayRestarted(snapshot)
	return grading
}

// Ungraded is the Grading of a lab that could not be looked at.
func Ungraded(why error) Grading {
	grading := Grading{Schema: 1, Suite: report.Commit, Error: why.Error(), Steps: []Grade{}}
	var finding *notLooked
	if errors.As(why, &finding) {
		grading.Code = finding.Code
	}
	return grading
}

// notLooked is a finding of the environment check as the error of a Check.
type notLooked preflight.Finding

func (n *notLooked) Error() string {
	return fmt.Sprintf("%s.\n  fix: %s", strings.TrimSuffix(n.Message, "."), n.Fix)
}

// Check looks once at the lab and the learner's files, changes nothing, and
// grades the steps. The error says why it could not look, as the preflight does.
func Check(ctx context.Context, w *cluster.Cluster, steps []lab.Step) (Grading, error) {
	// One bound for all of it: whoever waits for the answer waits no longer for two.
	ctx, cancel := cluster.Brief(ctx)
	defer cancel()
	site := &preflight.Facts{Server: w.Config.Host, Kubeconfig: w.Settings.Kubeconfig}
	if _, site.Unreachable = w.Version(ctx); site.Unreachable != nil {
		nobody := preflight.Unreachable(site)
		nobody.Fix = anotherLab
		return Grading{}, (*notLooked)(&nobody)
	}
	snapshot, err := w.Look(ctx)
	var silent *cluster.Silence
	switch {
	case err == nil:
	// A question has the same bound as all of them, so it may give up a moment earlier.
	case errors.As(err, &silent), errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		if site.Unreachable = err; silent == nil {
			question, _, _ := strings.Cut(err.Error(), ": ")
			site.Unreachable = &cluster.Silence{Question: "for the answer to " + question, Cause: err}
		}
		unreachable := preflight.Unreachable(site)
		return Grading{}, (*notLooked)(&unreachable)
	case meta.IsNoMatchError(err):
		return Grading{}, &notLooked{Code: missingManager(err), Message: fmt.Sprintf("%s has not both JobSet and Kueue: %v", w.Config.Host, err), Fix: anotherLab}
	default:
		return Grading{}, &notLooked{Code: preflight.FactUnreadable, Message: err.Error(), Fix: "look at what it names, and check again"}
	}
	w.LookAround(ctx, snapshot)
	grading := GradeAll(steps, snapshot)
	if len(steps) > 0 && !slices.ContainsFunc(grading.Steps, func(g Grade) bool { return g.Cause != preflight.FactUnreadable }) {
		return Grading{}, &notLooked{Code: preflight.FactUnreadable, Message: "this user may not list " + text.List(snapshot.Forbidden), Fix: readerFix}
	}
	grading.sayForbidden(snapshot)
	grading.sayQueueMissing(snapshot, w.Pins)
	grading.Cluster, grading.WorkDir = w.Config.Host, w.Settings.WorkDir
	_, err = os.Stat(w.Settings.WorkDir)
	grading.WorkDirMissing = errors.Is(err, fs.ErrNotExist)
	return grading, nil
}

// anotherLab is the fix for a cluster that is not the lab that was meant.
const anotherLab = "make check LAB_KUBECONFIG=/path names another lab"

// missingManager is the code of a cluster that does not serve one of the kinds.
func missingManager(err error) snapshot.Code {
	var unknown *meta.NoKindMatchError
	if errors.As(err, &unknown) && strings.Contains(unknown.GroupKind.Group, "jobset") {
		return preflight.JobSetNotInstalled
	}
	return preflight.KueueNotInstalled
}
