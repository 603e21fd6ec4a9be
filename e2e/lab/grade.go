package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// A Grading is what a learner is told of a lab: step by step what is passed, and
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
	// WorkDirMissing tells that there is no such directory, so that no step's file is there.
	WorkDirMissing bool `json:"workDirectoryMissing,omitempty"`
	// Error is why nothing could be looked at; there are no steps then.
	Error string  `json:"error,omitempty"`
	Steps []Grade `json:"steps"`
}

// A Grade is what a learner is told of one step. The words say that it is
// passed, or the first thing that is missing.
type Grade struct {
	Step   int    `json:"step"`
	Name   string `json:"name"`
	Title  string `json:"title"`
	Passed bool   `json:"passed"`
	// Code is the kind of the first thing that is missing; empty if the step is passed.
	Code Code `json:"code,omitempty"`
	Words
	// Notes tell what was left out because a client that only reads cannot see it.
	Notes []Words `json:"notes,omitempty"`
}

var wordsOfPassed = Words{KO: "통과했습니다.", EN: "Passed."}

// Grade judges the step for its learner.
func (s Step) Grade(snapshot *Snapshot) Grade {
	grade := Grade{Step: s.Number, Name: s.Name, Title: s.Title}
	check := s.Judge(snapshot)
	// Of a step that is not passed, what a reader cannot see comes after the reason.
	for _, left := range check.Open {
		grade.Notes = append(grade.Notes, left.Words)
	}
	if first := check.first(); first == nil {
		grade.Passed, grade.Words = true, wordsOfPassed
	} else {
		grade.Code, grade.Words = first.Code, first.Words
	}
	return grade
}

// GradeAll judges steps by one snapshot.
func GradeAll(steps []Step, snapshot *Snapshot) Grading {
	grading := Grading{Schema: 1, Passed: true, Suite: Commit, Steps: []Grade{}}
	for _, step := range steps {
		grade := step.Grade(snapshot)
		grading.Passed = grading.Passed && grade.Passed
		grading.Steps = append(grading.Steps, grade)
	}
	return grading
}

// Ungraded is the Grading of a lab that could not be looked at.
func Ungraded(why error) Grading {
	return Grading{Schema: 1, Suite: Commit, Error: why.Error(), Steps: []Grade{}}
}

// Check looks once at the lab and the learner's files, changes nothing, and
// grades the steps. The error says why it could not look, as the preflight does.
func (w *World) Check(ctx context.Context, steps []Step) (Grading, error) {
	// One bound for all of it: whoever waits for the answer waits no longer for two.
	ctx, cancel := brief(ctx)
	defer cancel()
	site := &Site{Server: w.config.Host, Kubeconfig: w.Settings.Kubeconfig}
	if _, site.Unreachable = w.answers(ctx); site.Unreachable != nil {
		nobody := unreachable(site)
		nobody.Mend = anotherLab
		return Grading{}, notLooked(nobody)
	}
	snapshot, err := w.Look(ctx)
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded): // of this look, or of one call in it
		var silent *silence
		if site.Unreachable = err; !errors.As(err, &silent) {
			question, _, _ := strings.Cut(err.Error(), ": ")
			site.Unreachable = &silence{question: "for the answer to " + question, cause: err}
		}
		return Grading{}, notLooked(unreachable(site))
	case meta.IsNoMatchError(err):
		return Grading{}, notLooked(Finding{What: "cluster", Says: fmt.Sprintf("%s has not both JobSet and Kueue: %v", w.config.Host, err),
			Mend: anotherLab})
	case apierrors.IsForbidden(err):
		return Grading{}, notLooked(Finding{What: "reading", Says: err.Error(),
			Mend: "kubectl apply -f fixtures/check/reader.yaml; it has the rights that a check needs"})
	default:
		return Grading{}, notLooked(Finding{What: "reading", Says: err.Error(), Mend: "look at what it names, and check again"})
	}
	if finding := w.queueThere(snapshot); finding.Wrong() {
		return Grading{}, notLooked(finding)
	}
	grading := GradeAll(steps, snapshot)
	grading.Cluster, grading.WorkDir = w.config.Host, w.Settings.WorkDir
	_, err = os.Stat(w.Settings.WorkDir)
	grading.WorkDirMissing = errors.Is(err, fs.ErrNotExist)
	return grading, nil
}

// queueThere tells by the queue whether the cluster is a lab at all. What a
// learner did or left out is no reason to say that it is none.
func (w *World) queueThere(snapshot *Snapshot) Finding {
	finding := Finding{What: "queue", Says: w.Pins.LocalQueue + " and " + w.Pins.ClusterQueue + " are there"}
	mend := "kubectl apply -f fixtures/lab/lab.yaml, if this is the lab; else " + anotherLab
	has := func(name string) bool {
		return slices.ContainsFunc(snapshot.LocalQueues, func(q kueuev1.LocalQueue) bool { return q.Name == name })
	}
	switch {
	case !has(w.Pins.LocalQueue):
		finding.Says = fmt.Sprintf("there is no LocalQueue %s in namespace %s", w.Pins.LocalQueue, w.Pins.Namespace)
		finding.Mend = mend
	case snapshot.ClusterQueue == nil:
		finding.Says, finding.Mend = "there is no ClusterQueue "+w.Pins.ClusterQueue, mend
	}
	return finding
}

// anotherLab is the mend for a cluster that is not the lab that was meant.
const anotherLab = "make check LAB_KUBECONFIG=/path names another lab"

// notLooked is a finding of the preflight's kind as an error.
func notLooked(finding Finding) error {
	return fmt.Errorf("%s.\n  mend: %s", strings.TrimSuffix(finding.Says, "."), finding.Mend)
}
