package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// repairsWithin bounds the repair after one fault, after an interrupt too: whoever
// made the lab may remove it not much later.
const repairsWithin = 80 * time.Second

// A Run is a run of the catalogue, or of a part of it, on one standing lab.
type Run struct {
	// Settings say which lab, and where the reports go: faults.json, and below
	// faults/ a folder for each fault with all that the suite left of it.
	Settings settings.Settings
	// Holder says in words who runs: program, user, host, process.
	Holder string
	// Program is the suite as a lab author runs it.
	Program string
	// Faults are done in this order.
	Faults []Fault
	// AllSteps runs all steps on the restored lab at the end.
	AllSteps bool
	// Out is where progress and the table are printed.
	Out io.Writer

	lab   *cluster.Cluster
	shell *shell
	// release lets other runs have the lab again; interrupt ends the catalogue.
	release   func(context.Context) error
	interrupt context.CancelCauseFunc
	// baseline is what there is in the lab's namespace while nothing is broken.
	baseline []string
}

// Do breaks the lab in every way, and returns how many faults were not caught
// or not restored. An error means that the catalogue could not be run on this lab.
func (r *Run) Do(ctx context.Context) (failed int, err error) {
	ctx, r.interrupt = context.WithCancelCause(ctx)
	defer r.interrupt(nil)
	endReports, err := report.Hold(r.Settings)
	if err != nil {
		return 0, err
	}
	defer endReports()
	defer func() { err = r.letGo(ctx, err) }()
	if err := r.begin(ctx); err != nil {
		return 0, err
	}
	defer func() {
		if r.shell != nil {
			err = errors.Join(err, r.shell.close(ctx))
		}
	}()
	began := time.Now()
	var results []Result
	for i, fault := range r.Faults {
		fmt.Fprintf(r.Out, "%2d/%d %s: %s\n", i+1, len(r.Faults), fault.Name, fault.Title)
		result, restored := r.one(ctx, fault)
		results = append(results, result)
		r.print(result, restored)
		if result.Wrong != "" {
			failed++
		}
		if ctx.Err() != nil || !restored {
			break
		}
	}
	if r.AllSteps && ctx.Err() == nil && len(results) == len(r.Faults) {
		result := r.runAllSteps(ctx)
		results = append(results, result)
		if result.Wrong != "" {
			failed++
		}
	}
	fmt.Fprintf(r.Out, "\n%s\n%d of %d faults were tried in %.0f s; %d were not as they must be\n", table(results),
		min(len(results), len(r.Faults)), len(r.Faults), time.Since(began).Seconds(), failed)
	if missing := len(r.Faults) - len(results); missing > 0 {
		failed += missing
	}
	if err := r.writePage(results, failed, began); err != nil {
		fmt.Fprintf(r.Out, "%v\n", err)
	}
	return failed, save(filepath.Join(r.Settings.Reports, "faults.json"), results)
}

// begin makes sure that what is to be broken is the lab, and whole.
func (r *Run) begin(ctx context.Context) error {
	cluster.SetWaits()
	lab, err := cluster.Connect(r.Settings)
	if err != nil {
		return err
	}
	r.lab = lab
	facts := preflight.Collect(ctx, lab)
	if facts.Unreachable == nil {
		// Before the environment check: whatever is wrong could be the doing of a fault that is left.
		left, err := readJournal(ctx, lab.Client())
		if err != nil {
			return err
		}
		if left != nil {
			return left.refusal()
		}
	}
	if wrong := preflight.Blocking(preflight.Judge(facts, lab.Pins)); wrong != "" {
		return fmt.Errorf("only a whole lab can be broken. %s", wrong)
	}
	if err := r.hold(ctx, facts); err != nil {
		return err
	}
	if err := r.removeShells(ctx); err != nil {
		return err
	}
	if err := ownership.CleanUpPreviousRun(ctx, lab); err != nil {
		return err
	}
	if r.baseline, err = lab.Inventory(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(r.Faults, Fault.onNode) {
		r.shell, err = openShell(ctx, lab, r.Settings.Run, false)
	}
	return err
}

// onNode reports whether a fault needs the node.
func (f Fault) onNode() bool {
	return slices.ContainsFunc(slices.Concat(f.Break, f.During), func(a Action) bool { return a.Node != nil })
}

// one makes a fault, runs the suite on it, judges what it reported, and restores the
// lab. restored is false if it could not be proven that the lab is whole again.
func (r *Run) one(ctx context.Context, fault Fault) (result Result, restored bool) {
	result = Result{Fault: fault.Name, Title: fault.Title}
	injection := r.injection(&journal{client: r.lab.Client(), fault: fault.Name, run: r.Settings.Run, holder: r.Holder, since: time.Now()})
	folder := filepath.Join(r.Settings.Reports, "faults", fault.Name)
	r.breakAndCatch(ctx, fault, injection, folder, &result)

	// Whatever happened, and however it was ended, the lab is restored.
	began := time.Now()
	repairing, cancel := context.WithTimeout(context.WithoutCancel(ctx), repairsWithin)
	defer cancel()
	err := r.repair(repairing, injection, folder)
	result.RestoredIn = time.Since(began).Seconds()
	return result.after(ctx.Err() != nil, err), err == nil
}

// injection is what a fault is made and restored with.
func (r *Run) injection(j *journal) *Injection {
	injection := &Injection{client: r.lab.Client(), journal: j}
	if r.shell != nil {
		injection.node = r.shell
	}
	return injection
}

func (r *Run) breakAndCatch(ctx context.Context, fault Fault, injection *Injection, folder string, result *Result) {
	err := freshFolder(folder)
	if err == nil {
		err = injection.plan(ctx, slices.Concat(fault.Break, fault.During))
	}
	if err == nil {
		err = injection.do(ctx, fault.Break)
	}
	if err != nil {
		result.Wrong = "it could not be made: " + err.Error()
		return
	}
	r.letWebhooksAnswer(ctx, injection)
	during := begin(ctx, injection, fault.During)
	run, err := runner{program: r.Program, kubeconfig: r.Settings.Kubeconfig, runID: r.Settings.Run}.run(ctx, folder, fault.Step)
	made, undone := during.end()
	if err != nil {
		result.Wrong = err.Error()
		return
	}
	took := run.reported().Sub(run.began)
	if !made.IsZero() {
		took = run.reported().Sub(made)
	}
	found := firstFailure(run.verdict)
	result.CaughtBy, result.Code, result.Cause, result.Message = found.by, found.code, found.cause, found.message
	result.Seconds = took.Seconds()
	result.Wrong = judge(fault, run.verdict, took)
	if undone != nil && result.Wrong != "" {
		result.Wrong = joined(result.Wrong, "what is done while the suite runs could not be done: "+undone.Error())
	}
}

// runAllSteps runs every step at the end: the strongest proof that all was restored.
func (r *Run) runAllSteps(ctx context.Context) Result {
	fmt.Fprintf(r.Out, "      all steps, on the restored lab\n")
	result := Result{Fault: "none", Title: "the restored lab"}
	folder := filepath.Join(r.Settings.Reports, "faults", "none")
	if err := freshFolder(folder); err != nil {
		result.Wrong = err.Error()
		return result
	}
	run, err := runner{program: r.Program, kubeconfig: r.Settings.Kubeconfig, runID: r.Settings.Run}.run(ctx, folder, "")
	result.Seconds = run.reported().Sub(run.began).Seconds()
	result.CaughtBy, result.Message = run.verdict.Verdict, run.verdict.Reason
	switch {
	case err != nil:
		result.Wrong = err.Error()
	case run.verdict.Verdict != passed && run.verdict.Verdict != partial:
		result.Wrong = "the restored lab is not whole: " + run.verdict.Reason
	}
	repairing, cancel := context.WithTimeout(context.WithoutCancel(ctx), repairsWithin)
	defer cancel()
	began := time.Now()
	err = r.repair(repairing, r.injection(nil), folder)
	result.RestoredIn = time.Since(began).Seconds()
	if err != nil {
		result.Wrong = joined(result.Wrong, err.Error())
	}
	r.print(result, err == nil)
	return result
}

func (r *Run) print(result Result, restored bool) {
	if result.Wrong != "" {
		fmt.Fprintf(r.Out, "      ✗ %s\n", result.Wrong)
	} else {
		fmt.Fprintf(r.Out, "      ✓ %s, %.1f s: %s\n", result.CaughtBy, result.Seconds, shorten(firstLine(result.Message)))
	}
	switch {
	case !restored:
		fmt.Fprintf(r.Out, "        the lab is still broken; to restore it, type: %s\n", howToRestore)
	default:
		fmt.Fprintf(r.Out, "        restored and proven in %.1f s\n", result.RestoredIn)
	}
}
