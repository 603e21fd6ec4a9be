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
	// judgeEvery is how often the same state is judged again: some verdicts come with time.
	judgeEvery = 2 * time.Second
	// quietFor is how long nothing of the step may change before a verdict counts.
	quietFor = time.Second
	// judgedWithin bounds the wait for the wanted verdict: silence does not end it, because on
	// a busy machine nothing changes for many seconds while containers start.
	judgedWithin = time.Minute
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

// of judges a snapshot that may be older than the answer's files, which are read now, and
// checks the lab as it is.
func (j judge) of(ctx context.Context, a Answer, seen *snapshot.Snapshot) (judgement, error) {
	withFiles := *seen
	var err error
	if withFiles.Files, withFiles.FilesUnread, err = files.ReadFiles(ctx, j.reader.Settings.WorkDir, j.reader.Settings.Files); err != nil {
		return judgement{}, err
	}
	grading, err := grade.Check(ctx, j.reader, []lab.Step{a.Step})
	if err != nil {
		return judgement{}, fmt.Errorf("checking: %w", err)
	}
	grade := grading.Steps[0]
	return judgement{byRun: byRun(a, &withFiles), byCheck: verdictOf(grade.Code, grade.Passed), says: grade.EN, snapshot: &withFiles}, nil
}

func byRun(a Answer, seen *snapshot.Snapshot) string {
	if first := a.Step.Judge(seen).First(); first != nil {
		return verdictOf(first.Code, false)
	}
	return passed
}

// settled judges once nothing that this judge sees changes any more. A verdict that is not
// the wanted one is given a while longer.
func (j judge) settled(ctx context.Context, a Answer) (judgement, error) {
	began, changed, before := time.Now(), time.Now(), ""
	var judged time.Time // when it was judged last since something changed
	for {
		seen, err := j.world.Look(ctx)
		if err != nil {
			return judgement{}, err
		}
		if now := versions(seen); now != before {
			changed, before, judged = time.Now(), now, time.Time{}
		}
		if late := time.Since(began) > judgedWithin; late || time.Since(changed) >= quietFor && time.Since(judged) >= judgeEvery {
			judged = time.Now()
			result, err := j.of(ctx, a, seen)
			if err != nil || late || result.is(a.Verdict) {
				return result, err
			}
		}
		select {
		case <-ctx.Done():
			return judgement{}, ctx.Err()
		case <-time.After(lookEvery):
		}
		j.world.AwaitChange(ctx)
	}
}

// versions is another text whenever something in the lab has changed.
func versions(s *snapshot.Snapshot) string {
	found := map[types.UID]string{}
	for _, object := range s.JobSets {
		found[object.UID] = object.ResourceVersion
	}
	for _, object := range s.Jobs {
		found[object.UID] = object.ResourceVersion
	}
	for _, object := range s.Pods {
		found[object.UID] = object.ResourceVersion
	}
	for _, object := range s.Workloads {
		found[object.UID] = object.ResourceVersion
	}
	return strings.Join(slices.Sorted(maps.Values(found)), " ")
}
