// Command runner shows and executes what the GitHub workflows run, as far as that
// goes without GitHub: .ci/workflows-proof says on what machine.
//
//	runner list WORKFLOW...
//	runner run WORKFLOW JOB [NAME=VALUE...]
//
// run executes the run lines of one job in this folder, as a hosted runner does: in
// order, with a new HOME, and nothing of this environment but what a runner has. A
// NAME with a dot is a value for expressions (inputs.step=1, secrets.kubeconfig=…,
// matrix.lab= picks that one); another is a variable of the machine, which stands
// before the workflow's own. The exit status is the job's.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"
)

func main() {
	failed, err := run(os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

func run(args []string) (failed bool, err error) {
	switch {
	case len(args) > 1 && args[0] == "list":
		return false, list(args[1:])
	case len(args) > 2 && args[0] == "run":
		return runJob(args[1], args[2], args[3:])
	}
	return false, errors.New("usage: runner list WORKFLOW... | runner run WORKFLOW JOB [NAME=VALUE...]")
}

// list prints every run line of every job, with its environment.
func list(paths []string) error {
	for _, path := range paths {
		all, err := jobs(path, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, job := range all {
			fmt.Printf("%s: %s\n", filepath.Base(path), job.name)
			for _, step := range job.Steps {
				runs, ok := step.Exec.(*actionlint.ExecRun)
				if !ok {
					continue
				}
				environment, unknown := job.environment(step)
				fmt.Printf("    %s\n", strings.TrimSpace(runs.Run.Value))
				for _, variable := range assignments(environment) {
					fmt.Printf("        %s\n", variable)
				}
				for _, variable := range unknown {
					fmt.Printf("        not known here: %s\n", variable)
				}
			}
		}
	}
	return nil
}

func assignments(environment map[string]string) []string {
	var all []string
	for name, value := range environment {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}

// runJob executes one job, and prints what it hands on.
func runJob(path, id string, given []string) (failed bool, err error) {
	expressions, machine := map[string]string{}, map[string]string{}
	for _, pair := range given {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			return false, fmt.Errorf("%q is no NAME=VALUE", pair)
		}
		if strings.Contains(name, ".") {
			expressions[name] = value
		} else {
			machine[name] = value
		}
	}
	all, err := jobs(path, expressions)
	if err != nil {
		return false, err
	}
	lab, chosen := expressions["matrix.lab"]
	at := slices.IndexFunc(all, func(j job) bool {
		matrix, _ := j.known["matrix"].(values)
		return j.ID.Value == id && (!chosen || matrix["lab"] == lab)
	})
	if at < 0 {
		return false, fmt.Errorf("%s has no job %s", path, id)
	}
	folder, err := os.MkdirTemp("", "runner-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	hosted := machineOf(folder, machine)
	if err := errors.Join(os.Mkdir(hosted.home, 0o755), os.Mkdir(hosted.temp, 0o755)); err != nil {
		return false, err
	}
	for _, step := range all[at].Steps {
		if err := hosted.step(all[at], step); err != nil {
			return false, err
		}
	}
	return truth(all[at].known["job failed"]), handOn(all[at])
}

// handOn prints what a job's outputs come to.
func handOn(j job) error {
	for _, output := range j.Outputs {
		value, err := j.known.resolve(output.Value.Value)
		if err != nil {
			return fmt.Errorf("the output %s: %w", output.Name.Value, err)
		}
		fmt.Printf("=== job %s hands on %s=%s\n", j.name, output.Name.Value, value)
	}
	return nil
}

// exitStatus is how a command ended; an error is of one that did not run at all.
func exitStatus(err error) (int, error) {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return 0, err
}
