package answers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/grade"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

const (
	lookEvery = 400 * time.Millisecond
	// quietFor is how long nothing of the step may change before a verdict counts.
	quietFor = time.Second
	// stuckAfter is how long nothing changes until another verdict is not waited for.
	stuckAfter = 5 * time.Second
	// judgedWithin bounds the wait for the verdict.
	judgedWithin = 30 * time.Second
)

// A judgement is how a run and a check judge the lab and an answer's files.
type judgement struct {
	byRun, byCheck string
	says           string // of the check, in English
	snapshot       *snapshot.Snapshot
}

func (j judgement) is(verdict string) bool { return j.byRun == verdict && j.byCheck == verdict }

// A judge sees the lab with the two pairs of eyes of this project: world has the history
// of a run, and reader looks once, as lab-e2e check does.
type judge struct {
	world  *cluster.Cluster
	reader *cluster.Cluster
}

func (j judge) look(ctx context.Context, a Answer) (judgement, error) {
	seen, err := j.world.Look(ctx)
	if err != nil {
		return judgement{}, err
	}
	return j.of(ctx, a, seen)
}

// of judges a snapshot that may be older than the answer's files, which are read now.
func (j judge) of(ctx context.Context, a Answer, seen *snapshot.Snapshot) (judgement, error) {
	withFiles := *seen
	var err error
	if withFiles.Files, withFiles.FilesUnread, err = files.ReadFiles(ctx, j.reader.Settings.WorkDir, j.reader.Settings.Files); err != nil {
		return judgement{}, err
	}
	first := a.Step.Judge(&withFiles).First()
	result := judgement{byRun: passed, snapshot: &withFiles}
	if first != nil {
		result.byRun = string(first.Code)
	}
	grading, err := grade.Check(ctx, j.reader, []lab.Step{a.Step})
	if err != nil {
		return judgement{}, fmt.Errorf("checking: %w", err)
	}
	grade := grading.Steps[0]
	result.byCheck, result.says = verdictOf(grade.Code, grade.Passed), grade.EN
	return result, nil
}

// settled judges until the verdict is the wanted one and nothing of the step's JobSets
// changes any more, or until it will not become that.
func (j judge) settled(ctx context.Context, a Answer) (result judgement, err error) {
	began, changed, before := time.Now(), time.Now(), ""
	for ctx.Err() == nil {
		if result, err = j.look(ctx, a); err != nil {
			return result, err
		}
		if now := versions(result.snapshot, a.Step.JobSets); now != before {
			changed, before = time.Now(), now
		}
		quiet := time.Since(changed)
		if result.is(a.Verdict) && quiet >= quietFor || quiet >= stuckAfter || time.Since(began) > judgedWithin {
			return result, nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
	return result, ctx.Err()
}

// versions is another text whenever something of the JobSets has changed.
func versions(s *snapshot.Snapshot, jobSets []string) string {
	kept := only(s, jobSets)
	found := map[types.UID]string{}
	for _, object := range kept.JobSets {
		found[object.UID] = object.ResourceVersion
	}
	for _, object := range kept.Jobs {
		found[object.UID] = object.ResourceVersion
	}
	for _, object := range kept.Pods {
		found[object.UID] = object.ResourceVersion
	}
	for _, object := range kept.Workloads {
		found[object.UID] = object.ResourceVersion
	}
	return strings.Join(slices.Sorted(maps.Values(found)), " ")
}
