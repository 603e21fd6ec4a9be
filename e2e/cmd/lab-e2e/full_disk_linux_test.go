package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/report"
)

// On a disk that is full, a run says which report could not be written, and fails.
func TestProgramOnAFullDisk(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	if err := syscall.Mount("tmpfs", reports, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small disk takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(reports, 0); err != nil {
			t.Error(err)
		}
	})
	asked := make(chan struct{}, 1)
	run := prepared(t, server(t, onlyVersion(asked)), "run", "--reports", reports)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := os.WriteFile(filepath.Join(reports, "filler"), make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	if err := run.Wait(); err == nil || run.ProcessState.ExitCode() == report.ExitPassed || !strings.Contains(run.told.String(), "no space left on device") ||
		!strings.Contains(run.told.String(), reports) {
		t.Errorf("%v, it said:\n%s", err, run.told)
	}
	content, err := os.ReadFile(filepath.Join(reports, "verdict.json"))
	if err != nil || !json.Valid(content) || strings.Contains(string(content), `"passed"`) {
		t.Errorf("its verdict.json is %s (%v)", content, err)
	}
}
