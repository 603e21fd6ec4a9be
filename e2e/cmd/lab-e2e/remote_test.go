package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run was killed, and the cluster lets nobody in any more (one that does not answer
// is waited for, for a minute): of the files in the work directory those go that it
// wrote, and nobody changed.
func TestProgramCleansUpAfterARunThatWasKilled(t *testing.T) {
	t.Parallel()
	cleanup := prepared(t, server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }), "cleanup")
	work := filepath.Join(cleanup.Dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	ledger := map[string]string{}
	for name, now := range map[string]string{"dns.txt": "ours", "labels.txt": "ours, and then a learner's", "restart.txt": "theirs"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		if name != "restart.txt" {
			ledger[filepath.Join(work, name)] = fmt.Sprintf("%x", sha256.Sum256([]byte("ours")))
		}
	}
	content, err := json.Marshal(ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cleanup.settings.Reports, "written.json"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cleanup.Run(); err == nil || !strings.Contains(cleanup.told.String(), "listing the JobSets of namespace ml: ") {
		t.Errorf("it does not say that the JobSets may be there: %v\n%s", err, cleanup.told)
	}
	left, err := filepath.Glob(filepath.Join(work, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "labels.txt" || filepath.Base(left[1]) != "restart.txt" {
		t.Errorf("left are %q (%v)", left, err)
	}
}

func TestProgramReceivesReports(t *testing.T) {
	t.Parallel()
	receive := prepared(t, "", "receive")
	receive.Stdin = strings.NewReader("no archive at all, as a machine sends that says hello first")
	if err := receive.Run(); err == nil || !strings.Contains(receive.told.String(), "are not taken") {
		t.Errorf("%v\n%s", err, receive.told)
	}
	receive.leaves(t, "passed", "")
}
