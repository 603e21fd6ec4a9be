package answers

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/fixtures"
)

// solve does all steps that make JobSets, as the lab text says.
//
//go:embed solve.sh
var solve string

// typedWithin bounds one answer's script.
const typedWithin = 90 * time.Second

// A terminal is where scripts run: as a learner's shell in the work directory, with
// kubectl and a kubeconfig of the lab.
type terminal struct {
	kubeconfig string
	// folder holds the learner's manifests of all steps (steps) and kubectl's cache.
	folder string
}

// newTerminal makes the folder that scripts find the right manifests in, as $STEPS.
func newTerminal(kubeconfig, folder string) (*terminal, error) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return nil, fmt.Errorf("the answers are typed with kubectl, as a learner does, and there is none on PATH; "+
			".ci/answers takes the lab node's own: %w", err)
	}
	absolute, err := filepath.Abs(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("finding the kubeconfig: %w", err)
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, fmt.Errorf("finding the reports: %w", err)
	}
	t := &terminal{kubeconfig: absolute, folder: folder}
	for _, name := range fixtures.Names() {
		if !strings.HasPrefix(name, "steps/") {
			continue
		}
		content, err := fixtures.Read(name)
		if err == nil {
			err = os.MkdirAll(filepath.Join(folder, "steps"), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o644)
		}
		if err != nil {
			return nil, fmt.Errorf("writing the manifests that answers begin from: %w", err)
		}
	}
	return t, nil
}

// run types a script in an empty work directory. A command that fails ends it, as sh -e
// does: a wrong answer must not be refused because of a slip in its own file.
func (t *terminal) run(ctx context.Context, workDir, script string) error {
	if err := os.RemoveAll(workDir); err != nil {
		return fmt.Errorf("emptying the work directory: %w", err)
	}
	if err := os.MkdirAll(workDir, 0o755); err != nil {
		return fmt.Errorf("making the work directory: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, typedWithin)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-e", "-c", script)
	command.Dir = workDir
	command.Env = append(command.Environ(), "KUBECONFIG="+t.kubeconfig, "STEPS="+filepath.Join(t.folder, "steps"),
		"KUBECACHEDIR="+filepath.Join(t.folder, "cache"))
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	// A process group of its own, so that an interrupt ends all that the script started.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	err := command.Run()
	if log := os.WriteFile(workDir+".log", printed.Bytes(), 0o644); err == nil {
		err = log
	}
	if err != nil {
		return fmt.Errorf("the script failed: %w: %s", errors.Join(err, ctx.Err()), lastLine(printed.String()))
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
