package main

import (
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// A wish to end that comes while the program is still reading what it is asked for
// ends it as what it is, at whatever moment: no failure, and no trace of goroutines.
func TestProgramIsInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	for moment := time.Duration(0); moment < 300*time.Millisecond; moment += 15 * time.Millisecond {
		t.Run(moment.String(), func(t *testing.T) {
			t.Parallel()
			kubeconfig, _ := hanging(t)
			run := start(t, kubeconfig, "run")
			<-time.After(moment)
			if err := run.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_ = run.Wait() // the status is looked at below
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("TERM after %s: it ended after another %s", moment, took)
			}
			if strings.Contains(run.told.String(), "goroutine ") {
				t.Errorf("TERM after %s: it said:\n%s", moment, run.told)
			}
			status := run.ProcessState.Sys().(syscall.WaitStatus)
			verdict, err := report.ReadVerdict(run.settings)
			switch {
			case status.Signaled() && status.Signal() == syscall.SIGTERM: // before the first line of it ran
			case err != nil || verdict.Verdict == "passed" || !strings.Contains(verdict.Reason, "interrupted"):
				t.Errorf("TERM after %s: exit status %d, %+v, %v", moment, status.ExitStatus(), verdict, err)
			case verdict.Verdict == "not run" && status.ExitStatus() != report.ExitNotRun, verdict.Verdict == "failed" && status.ExitStatus() != report.ExitFailed:
				t.Errorf("TERM after %s: exit status %d, verdict %s", moment, status.ExitStatus(), verdict.Verdict)
			}
		})
	}
}

// onlyVersion is an API server that answers /version, and takes any other question
// without ever answering it.
func onlyVersion(asked chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			bare(w, r)
			return
		}
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}
}

func TestProgramOnAnAPIServerThatStalls(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	interrupted := start(t, server(t, onlyVersion(asked)), "run")
	<-asked
	began := time.Now()
	if err := interrupted.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	interrupted.ends(t, report.ExitFailed, "failed", "interrupted")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Ctrl-C took %s", took)
	}
	began = time.Now()
	run, check := start(t, server(t, onlyVersion(asked)), "run"), start(t, server(t, onlyVersion(asked)), "check")
	run.ends(t, report.ExitNotRun, "not run", "answers /version, but asked which kinds it serves")
	if err := check.Wait(); err == nil || check.ProcessState.ExitCode() != report.ExitNotRun || !strings.Contains(check.told.String(), "answers /version, but") {
		t.Errorf("check: %v, it said:\n%s", err, check.told)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("a run and a check took %s", took)
	}
}

// What could not be printed was not said: who asked must hear of it by the status.
func TestACheckThatNobodyCanRead(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("there is no full disk to be had here: %v", err)
	}
	defer full.Close()
	check := prepared(t, server(t, bare), "check", "--json")
	check.Stdout = full
	if err := check.Start(); err != nil {
		t.Fatal(err)
	}
	if err := check.Wait(); err == nil || check.ProcessState.ExitCode() != report.ExitNotRun || !strings.Contains(check.told.String(), "no space left on device") {
		t.Errorf("%v, it said:\n%s", err, check.told)
	}
	summary := prepared(t, "", "summary")
	summary.Stdout = full
	if err := summary.Start(); err != nil {
		t.Fatal(err)
	}
	if err := summary.Wait(); err == nil {
		t.Errorf("the summary was printed to a full disk; it said:\n%s", summary.told)
	}
}

// A report that a full disk cuts short is found to be so, whoever wrote it.
func TestReportsMustBeWhole(t *testing.T) {
	t.Parallel()
	settings := settings.Settings{Reports: t.TempDir()}
	const whole, json = "<a><b>c</b></a>", `[{"a": "b"}]`
	put := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(report.JUnitReport(settings), whole)
	put(report.SpecsReport(settings), json)
	if err := report.CheckReports(settings); err != nil {
		t.Error(err)
	}
	for at := range len(whole) {
		put(report.JUnitReport(settings), whole[:at])
		if err := report.CheckReports(settings); err == nil || !strings.Contains(err.Error(), "junit.xml is not whole") {
			t.Errorf("%q: %v", whole[:at], err)
		}
	}
	put(report.JUnitReport(settings), whole)
	put(report.SpecsReport(settings), json[:len(json)-1])
	if err := report.CheckReports(settings); err == nil || !strings.Contains(err.Error(), "specs.json is not whole") {
		t.Error(err)
	}
}
