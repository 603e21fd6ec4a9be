package lab

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// An interrupt that comes while the API server makes a JobSet must not leave it to
// be made after the cleanup has looked what there is.
func TestAnInterruptDoesNotCutAnApplyOff(t *testing.T) {
	t.Parallel()
	api := labtest.NewFakeAPI(t)
	ctx, interrupt := context.WithCancel(t.Context())
	applied := false
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch {
			api.Serve(w, r)
			return
		}
		interrupt()
		content, err := io.ReadAll(r.Body)
		var object map[string]any
		if err != nil || json.Unmarshal(content, &object) != nil {
			t.Errorf("what came is no object: %v", err)
		}
		applied = r.Context().Err() == nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object)
	}))
	defer slow.Close()
	target, err := cluster.Connect(settings.Settings{Kubeconfig: labtest.KubeconfigOf(t, slow.URL)})
	if err != nil {
		t.Fatal(err)
	}
	content, err := target.Fixture("steps/hello.yaml")
	if err != nil {
		t.Fatal(err)
	}
	me := &Learner{cluster: target, folder: "steps"}
	if err := me.apply(ctx, "hello.yaml", content); err != nil || !applied {
		t.Errorf("the interrupted apply came to %v, applied: %v", err, applied)
	}
}
