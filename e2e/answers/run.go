package answers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// atOnce is how many answers on the solved lab are tried at the same time.
const atOnce = 4

// A Run is a run of the catalogue, or of a part of it, on one standing lab.
type Run struct {
	// Settings say which lab, and where the reports go: below answers/ there, the work
	// directory of each answer and what its script printed.
	Settings settings.Settings
	Answers  []Answer
	// RecordInto is the directory for the recordings of all answers; empty records none.
	RecordInto string
	// Out is where progress and the table are printed.
	Out io.Writer

	lab      *cluster.Cluster
	terminal *terminal
	before   *inventory
	mu       sync.Mutex
	results  []Result
}

// Do tries every answer, and returns how many were judged otherwise than their files say.
// An error means that they could not be tried on this lab.
func (r *Run) Do(ctx context.Context) (wrong int, err error) {
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	began := time.Now()
	endReports, err := report.Hold(r.Settings)
	if err != nil {
		return 0, err
	}
	defer endReports()
	if r.terminal, err = newTerminal(r.Settings.Kubeconfig, filepath.Join(r.Settings.Reports, "answers")); err != nil {
		return 0, err
	}
	release, err := r.begin(ctx, interrupt)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, release(context.WithoutCancel(ctx))) }()
	defer func() { err = errors.Join(err, r.cleanUp(ctx)) }()
	err = r.onSolvedLab(ctx)
	if err == nil {
		err = r.inLanes(ctx)
	}
	if ctx.Err() != nil {
		// What ended the run is reported where it came from, but for a lab that was lost.
		if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
			return len(r.Answers), cause
		}
		fmt.Fprintf(r.Out, "%d of %d answers were tried\n", len(r.results), len(r.Answers))
		return len(r.Answers), nil
	}
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(r.Out, "\n%s\n", table(r.results))
	for _, result := range r.results {
		if result.Wrong != "" {
			wrong++
			fmt.Fprintf(r.Out, "%s\n", result) // again: of a long log, the end is read
		}
	}
	fmt.Fprintf(r.Out, "%d answers were tried in %.0f s; %d were judged otherwise than they must be\n", len(r.results), time.Since(began).Seconds(), wrong)
	return wrong, nil
}

// begin makes sure that this is a whole lab that nobody uses, and takes it.
func (r *Run) begin(ctx context.Context, interrupt context.CancelCauseFunc) (release func(context.Context) error, err error) {
	cluster.SetWaits()
	settings := r.Settings
	settings.WorkDir = r.workDir("solved-lab")
	if r.lab, err = cluster.Connect(settings); err != nil {
		return nil, err
	}
	facts := preflight.Collect(ctx, r.lab)
	if wrong := preflight.Blocking(preflight.Judge(facts, r.lab.Pins)); wrong != "" {
		return nil, fmt.Errorf("answers are tried on a whole lab only. %s", wrong)
	}
	release, err = ownership.Hold(ctx, r.lab, "lab-e2e answers", interrupt)
	if err = facts.Held(err); err != nil {
		return nil, err
	}
	if facts.Unheld != nil {
		fmt.Fprintf(r.Out, "nothing keeps a second run off this lab meanwhile: %v\n", facts.Unheld)
		release = func(context.Context) error { return nil }
	}
	err = ownership.CleanUpPreviousRun(ctx, r.lab)
	if err == nil {
		r.before, err = takeInventory(ctx, r.lab)
	}
	if err != nil {
		return nil, errors.Join(err, release(context.WithoutCancel(ctx)))
	}
	return release, nil
}

func (r *Run) workDir(name string) string {
	return filepath.Join(r.Settings.Reports, "answers", "work", name)
}

// onSolvedLab tries the answers that only write files, side by side in a lab in which all
// JobSets of the steps are as they should be.
func (r *Run) onSolvedLab(ctx context.Context) error {
	chosen := slices.DeleteFunc(slices.Clone(r.Answers), func(a Answer) bool { return !a.OnSolvedLab })
	if len(chosen) == 0 {
		return nil
	}
	fmt.Fprintf(r.Out, "solving the steps, for %d answers that only write files\n", len(chosen))
	if err := r.lab.Watch(ctx); err != nil {
		return err
	}
	if err := r.terminal.run(ctx, r.workDir("solved-lab"), solve); err != nil {
		return fmt.Errorf("solving the steps: %w", err)
	}
	seen, err := r.lab.Look(ctx)
	if err == nil && r.RecordInto != "" {
		err = record(r.RecordInto, solvedRecording, seen)
	}
	if err != nil {
		return err
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, answer := range chosen {
		group.Go(func() error {
			if within.Err() != nil {
				return within.Err()
			}
			return r.try(within, answer, r.lab, func(ctx context.Context, j judge) (judgement, error) { return j.of(ctx, answer, seen) })
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.before.remove(ctx, r.lab, r.Settings.JobSets)
}

// inLanes tries the answers that make JobSets of their own: those about the same JobSet
// one after the other, and the lanes side by side.
func (r *Run) inLanes(ctx context.Context) error {
	lanes := map[string][]Answer{}
	for _, answer := range r.Answers {
		if !answer.OnSolvedLab {
			name := strings.Join(answer.lane(), " ")
			lanes[name] = append(lanes[name], answer)
		}
	}
	group, within := errgroup.WithContext(ctx)
	for _, lane := range lanes {
		group.Go(func() error { return r.inLane(within, lane) })
	}
	return group.Wait()
}

func (r *Run) inLane(ctx context.Context, lane []Answer) error {
	others := slices.DeleteFunc(slices.Clone(r.Settings.JobSets), func(name string) bool { return slices.Contains(lane[0].lane(), name) })
	world := r.lab.Beside(others)
	for _, answer := range lane {
		// A watch of its own each: the history of an answer begins with it.
		watching, stop := context.WithCancel(ctx)
		err := world.Watch(watching)
		if err == nil {
			err = r.try(ctx, answer, world, func(ctx context.Context, j judge) (judgement, error) { return j.settled(ctx, answer) })
		}
		stop()
		if err == nil {
			err = r.before.remove(ctx, world, answer.lane())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// try types an answer and compares how it is judged with what its file says.
func (r *Run) try(ctx context.Context, a Answer, world *cluster.Cluster, judged func(context.Context, judge) (judgement, error)) error {
	began := time.Now()
	settings := r.Settings
	settings.WorkDir = r.workDir(a.Name)
	reader, err := cluster.ConnectToRead(settings)
	if err != nil {
		return err
	}
	result := Result{Answer: a}
	if failed := r.terminal.run(ctx, settings.WorkDir, a.Script); failed != nil {
		result.Wrong = failed.Error()
	}
	found, err := judged(ctx, judge{world, reader})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("answer %s: %w", a.Name, err)
	}
	result.compare(found)
	result.Seconds = time.Since(began).Seconds()
	// One that was judged wrongly is recorded too: the fix is then tried without a lab.
	if r.RecordInto != "" {
		if err := record(r.RecordInto, a.Name, recorded(a, found.snapshot)); err != nil {
			return err
		}
	}
	r.add(result)
	return nil
}

func (r *Run) add(result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, result)
	fmt.Fprintf(r.Out, "%3d/%d %s\n", len(r.results), len(r.Answers), result)
}

// cleanUp removes all that the answers made, after an interrupt too.
func (r *Run) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cluster.SoonEnough)
	defer cancel()
	return r.before.remove(ctx, r.lab, r.Settings.JobSets)
}
