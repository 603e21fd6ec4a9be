package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/report"
)

// A lab that has nothing yet is one that boots; one that lets nobody in is not.
func TestProgramWaitsForALabThatBoots(t *testing.T) {
	t.Parallel()
	began := time.Now()
	booting := start(t, server(t, bare), "run", "--wait", "3s")
	booting.ends(t, report.ExitFailed, "failed", "This is not the lab")
	if took := time.Since(began); took < 3*time.Second {
		t.Errorf("it was waited for %s only", took)
	}
	for _, words := range []string{"the lab is not ready after 0s of at most 3s: reading: the nodes", "wrong since"} {
		if !strings.Contains(booting.told.String(), words) {
			t.Errorf("it does not say %q:\n%s", words, booting.told)
		}
	}
	began = time.Now()
	shut := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	start(t, shut, "run", "--wait", "5m").ends(t, report.ExitNotRun, "not run", "is not the one that")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a lab that lets nobody in was waited for %s", took)
	}
	began = time.Now()
	start(t, "/nowhere/kubeconfig", "run", "--wait", "2s").ends(t, report.ExitNotRun, "not run", "/nowhere/kubeconfig")
	if took := time.Since(began); took < 2*time.Second || took > 7*time.Second {
		t.Errorf("a kubeconfig that is not there yet was waited for %s", took)
	}
	start(t, "/nowhere/kubeconfig", "run", "--wait", "soon").ends(t, report.ExitNotRun, "not run", "no length of time")
}
