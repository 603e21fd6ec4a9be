package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// These tests run the program itself, as make and a gate do: this test binary is it.

// started is one run of the program in a folder of its own, where an earlier run
// has left a verdict of passed.
type started struct {
	*exec.Cmd
	told     *strings.Builder
	settings settings.Settings
}

// Under nohup a run goes on when its terminal goes away, and can still be interrupted.
func TestProgramHonoursNohup(t *testing.T) {
	t.Parallel()
	kubeconfig, asked := hanging(t)
	run := prepared(t, kubeconfig, "run")
	run.Path, run.Args = "/bin/bash", append([]string{"bash", "-c", `trap '' HUP; exec "$0" "$@"`}, run.Args...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := errors.Join(run.Process.Signal(syscall.SIGHUP), run.Process.Signal(syscall.SIGINT)); err != nil {
		t.Fatal(err)
	}
	run.ends(t, report.ExitFailed, "failed", "interrupted")
	if said := run.told.String(); strings.Contains(said, "hangup") || !strings.Contains(said, "Interrupted (interrupt)") {
		t.Errorf("it said:\n%s", said)
	}
}

func start(t *testing.T, kubeconfig string, args ...string) started {
	t.Helper()
	s := prepared(t, kubeconfig, args...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// prepared is what start starts.
func prepared(t *testing.T, kubeconfig string, args ...string) started {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	s := started{told: &strings.Builder{}, settings: settings.Settings{Reports: filepath.Join(root, ".lab"), Kubeconfig: kubeconfig}}
	if err := os.MkdirAll(s.settings.Reports, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := report.SaveClosing(s.settings, report.Summary{Verdict: "passed", Reason: "an earlier run"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s.Cmd = exec.CommandContext(ctx, self, args...)
	s.Dir, s.Stdout, s.Stderr = root, s.told, s.told
	s.Env = []string{"LAB_KUBECONFIG=" + kubeconfig, "LAB_WORKDIR=" + filepath.Join(root, "work"), "KUBECONFIG=/root/.kube/config"}
	return s
}

// ends waits for the program, and requires its exit status and its verdict.
func (s started) ends(t *testing.T, exit int, verdict, reason string) {
	t.Helper()
	_ = s.Wait() // the status is looked at below
	if found := s.ProcessState.ExitCode(); found != exit {
		t.Errorf("exit status %d, not %d; it said:\n%s", found, exit, s.told)
	}
	s.leaves(t, verdict, reason)
}

func (s started) leaves(t *testing.T, verdict, reason string) {
	t.Helper()
	found, err := report.ReadVerdict(s.settings)
	if err != nil {
		t.Fatal(err)
	}
	if found.Verdict != verdict || !strings.Contains(found.Reason, reason) {
		t.Errorf("verdict %s: %s\nnot %s: …%s…", found.Verdict, found.Reason, verdict, reason)
	}
}

// server is an API server that gives every path the one answer.
func server(t *testing.T, answer http.HandlerFunc) (kubeconfig string) {
	t.Helper()
	listening := httptest.NewServer(answer)
	t.Cleanup(listening.Close)
	return kubeconfigTo(t, listening.URL)
}

func kubeconfigTo(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "it",
		"clusters": [{"name": "it", "cluster": {"server": %q}}], "users": [{"name": "it"}],
		"contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}`, url)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// bare is a Kubernetes that has nothing at all of the lab.
func bare(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/version" {
		_ = json.NewEncoder(w).Encode(map[string]string{"gitVersion": "v1.37.2"})
		return
	}
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
}

func TestProgramRefusesToRun(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		kubeconfig, reason string
		args               []string
	}{
		"no kubeconfig":              {"", "LAB_KUBECONFIG does not say", []string{"run"}},
		"a kubeconfig that is not":   {"/nowhere/kubeconfig", "/nowhere/kubeconfig", []string{"run"}},
		"a kubeconfig that is none":  {"/proc/version", "not a kubeconfig", []string{"run"}},
		"a step that is none":        {"/nowhere/kubeconfig", "STEP=99 is none", []string{"run", "--step", "99"}},
		"a flag that is none":        {"/nowhere/kubeconfig", "unknown flag", []string{"run", "--strickt"}},
		"a word too many":            {"/nowhere/kubeconfig", `"4"`, []string{"run", "4"}},
		"a plan of no step":          {"", "STEP=nine is none", []string{"plan", "--step", "nine"}},
		"strict makes no difference": {"", "LAB_KUBECONFIG does not say", []string{"run", "--strict"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start(t, of.kubeconfig, of.args...).ends(t, report.ExitNotRun, "not run", of.reason)
		})
	}
	t.Run("a plan that can be met", func(t *testing.T) {
		start(t, "", "plan", "--step", "4").ends(t, report.ExitPassed, "not run", "no run has begun")
	})
}

func TestProgramReportsAnotherCluster(t *testing.T) {
	t.Parallel()
	start(t, server(t, bare), "run").ends(t, report.ExitFailed, "failed", "This is not the lab")
	start(t, kubeconfigTo(t, "http://127.0.0.1:1"), "run", "--strict").ends(t, report.ExitNotRun, "not run", "nothing listens")
}

// hanging is an API server that never answers, and tells when it is first asked.
func hanging(t *testing.T) (kubeconfig string, asked <-chan struct{}) {
	t.Helper()
	heard := make(chan struct{}, 100)
	return server(t, func(_ http.ResponseWriter, r *http.Request) {
		heard <- struct{}{}
		<-r.Context().Done()
	}), heard
}

func TestProgramIsKilled(t *testing.T) {
	t.Parallel()
	kubeconfig, asked := hanging(t)
	run := start(t, kubeconfig, "run")
	<-asked
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.ends(t, -1, "failed", "has not come to its end")
}

func TestProgramIsInterrupted(t *testing.T) {
	t.Parallel()
	kubeconfig, asked := hanging(t)
	run := start(t, kubeconfig, "run")
	<-asked
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	run.ends(t, report.ExitFailed, "failed", "interrupted")
}

// hangup is the signal of a lost connection. Where these tests run under nohup, the
// program leaves it ignored, as it should, and is ended by another one.
func hangup() syscall.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return syscall.SIGTERM
	}
	return syscall.SIGHUP
}

// Whoever reads what a run prints may be gone, as when a connection is lost: the
// run comes to its end, and to its verdict, all the same.
func TestProgramOutlivesItsReader(t *testing.T) {
	t.Parallel()
	kubeconfig, asked := hanging(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	run := prepared(t, kubeconfig, "run")
	run.Stdout, run.Stderr = writer, writer
	if err := errors.Join(run.Start(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := errors.Join(reader.Close(), run.Process.Signal(hangup())); err != nil {
		t.Fatal(err)
	}
	run.ends(t, report.ExitFailed, "failed", "interrupted")
}
