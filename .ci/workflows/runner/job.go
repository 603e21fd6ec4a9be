package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"
)

// A job is one job of a workflow for one combination of its matrix.
type job struct {
	name     string
	workflow *actionlint.Workflow
	*actionlint.Job
	known values
}

func read(path string) (*actionlint.Workflow, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	workflow, errs := actionlint.Parse(content)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return workflow, nil
}

// jobs are those of a workflow, in the order of their names, with each combination
// of a matrix; given are values for expressions beside those that the file holds.
func jobs(path string, given map[string]string) ([]job, error) {
	workflow, err := read(path)
	if err != nil {
		return nil, err
	}
	var all []job
	for _, id := range slices.Sorted(maps.Keys(workflow.Jobs)) {
		combinations, err := combinations(workflow.Jobs[id])
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", id, err)
		}
		for _, matrix := range combinations {
			name := id
			for _, row := range slices.Sorted(maps.Keys(matrix)) {
				name += fmt.Sprintf(" (%s=%s)", row, matrix[row])
			}
			known := values{"matrix": matrix, "inputs": defaults(workflow), "secrets": values{}, "steps": values{}, "needs": values{},
				"github": values{}, "job failed": false}
			for name, value := range given {
				if err := known.give(strings.Split(name, "."), value); err != nil {
					return nil, fmt.Errorf("%s=%s: %w", name, value, err)
				}
			}
			all = append(all, job{name, workflow, workflow.Jobs[id], known})
		}
	}
	return all, nil
}

// give sets a value by its path, such as needs.e2e.result.
func (v values) give(path []string, value string) error {
	if len(path) == 1 {
		v[path[0]] = value
		if value == "true" || value == "false" {
			v[path[0]] = value == "true"
		}
		return nil
	}
	if v[path[0]] == nil {
		v[path[0]] = values{}
	}
	inner, ok := v[path[0]].(values)
	if !ok {
		return fmt.Errorf("%s is no object", path[0])
	}
	return inner.give(path[1:], value)
}

// combinations are all choices of one value from each row of a job's matrix.
func combinations(job *actionlint.Job) ([]values, error) {
	all := []values{{}}
	if job.Strategy == nil || job.Strategy.Matrix == nil {
		return all, nil
	}
	matrix := job.Strategy.Matrix
	if matrix.Include != nil || matrix.Exclude != nil || matrix.Expression != nil {
		return nil, fmt.Errorf("this program reads only the rows of a matrix")
	}
	for _, row := range slices.Sorted(maps.Keys(matrix.Rows)) {
		var longer []values
		for _, chosen := range all {
			for _, value := range matrix.Rows[row].Values {
				with := maps.Clone(chosen)
				with[row] = strings.Trim(value.String(), `"`)
				longer = append(longer, with)
			}
		}
		all = longer
	}
	return all, nil
}

// defaults are the inputs of a workflow that another calls, as it declares them.
func defaults(workflow *actionlint.Workflow) values {
	inputs := values{}
	for _, event := range workflow.On {
		called, ok := event.(*actionlint.WorkflowCallEvent)
		if !ok {
			continue
		}
		for _, input := range called.Inputs {
			inputs[input.ID] = ""
			if input.Default != nil {
				_ = inputs.give([]string{input.ID}, input.Default.Value) // one name is no path
			}
		}
	}
	return inputs
}

// environment is that of a step, resolved: the workflow's, the job's, its own. A
// value that only GitHub knows is told and left out.
func (j job) environment(step *actionlint.Step) (environment map[string]string, unknown []string) {
	environment = map[string]string{}
	for _, env := range []*actionlint.Env{j.workflow.Env, j.Env, step.Env} {
		if env == nil {
			continue
		}
		for _, variable := range env.Vars {
			value, err := j.known.resolve(variable.Value.Value)
			if err != nil {
				unknown = append(unknown, fmt.Sprintf("%s=%s (%v)", variable.Name.Value, variable.Value.Value, err))
				continue
			}
			environment[variable.Name.Value] = value
		}
	}
	slices.Sort(unknown)
	return environment, unknown
}

// wanted tells whether a step is run, as far as the steps before it went.
func (j job) wanted(step *actionlint.Step) (bool, error) {
	condition := "success()"
	if step.If != nil {
		condition = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(step.If.Value), "${{"), "}}")
	}
	value, err := j.known.evaluate(condition)
	if !strings.Contains(condition, "()") {
		value = truth(value) && !truth(j.known["job failed"])
	}
	return truth(value), err
}
