package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rhysd/actionlint"
)

// A machine is a hosted runner, as far as a run line can tell.
type machine struct {
	home, temp string
	given      map[string]string
}

func machineOf(folder string, given map[string]string) machine {
	return machine{filepath.Join(folder, "home"), filepath.Join(folder, "temp"), given}
}

// passedOn is what of this environment a runner has too: the way to Go's modules
// and its build cache, which setup-go keeps, and to the engine.
var passedOn = []string{"PATH", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "SSL_CERT_FILE", "SSL_CERT_DIR", "DOCKER_HOST", "DOCKER_CONFIG"}

// step runs one step of a job, if it is to run and is a line, and takes note of how
// it ended and of what it hands on.
func (m machine) step(j job, step *actionlint.Step) error {
	runs, ok := step.Exec.(*actionlint.ExecRun)
	if !ok {
		if action, ok := step.Exec.(*actionlint.ExecAction); ok {
			fmt.Printf("--- %s: only on GitHub\n", action.Uses.Value)
		}
		return nil
	}
	line := strings.TrimSpace(runs.Run.Value)
	wanted, err := j.wanted(step)
	if err != nil {
		return fmt.Errorf("whether %s runs: %w", line, err)
	}
	if !wanted {
		fmt.Printf("--- %s: not run, as the steps before went\n", line)
		return nil
	}
	own, unknown := j.environment(step)
	for _, variable := range unknown {
		fmt.Printf("--- not known here: %s\n", variable)
	}
	output, summary := filepath.Join(m.temp, "output"), filepath.Join(m.temp, "summary")
	for _, path := range []string{output, summary} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("--- %s\n", line)
	command := exec.Command("bash", "-e", "-o", "pipefail", "-c", line)
	command.Env = m.environment(own, output, summary)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	status, err := exitStatus(command.Run())
	if err != nil {
		return err
	}
	fmt.Printf("--- %s: exit status %d\n", line, status)
	if status != 0 {
		j.known["job failed"] = true
	}
	if step.ID != nil {
		steps, _ := j.known["steps"].(values)
		steps[step.ID.Value], err = outputs(output)
		if err != nil {
			return err
		}
	}
	content, err := os.ReadFile(summary)
	if err != nil {
		return err
	}
	if len(content) > 0 {
		fmt.Printf("--- the job's summary:\n%s", content)
	}
	return nil
}

func (m machine) environment(own map[string]string, output, summary string) []string {
	var all []string
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	workspace, _ := os.Getwd()
	all = append(all, "HOME="+m.home, "USER=runner", "LANG=C.UTF-8", "CI=true", "GITHUB_ACTIONS=true", "RUNNER_TEMP="+m.temp,
		"GITHUB_WORKSPACE="+workspace, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary,
		"GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=lab/suite", "GITHUB_RUN_ID=42", "GITHUB_SHA=not known")
	// What comes later counts.
	all = append(all, assignments(own)...)
	return append(all, assignments(m.given)...)
}

// outputs reads the file that GITHUB_OUTPUT names.
func outputs(path string) (values, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	handed := values{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), "=")
		if !found {
			return nil, fmt.Errorf("GITHUB_OUTPUT holds %q, which is no NAME=VALUE", lines.Text())
		}
		handed[name] = value
	}
	return values{"outputs": handed}, lines.Err()
}
