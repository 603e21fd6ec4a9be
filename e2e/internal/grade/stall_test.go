package grade

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
)

// A look may take less here than at a learner's, so that these tests end soon.
func TestMain(m *testing.M) {
	cluster.LookWithin = 2 * time.Second
	os.Exit(m.Run())
}

// An API server that takes a question and never answers it holds nothing up beyond
// its bound, whichever question it is.
func TestAnAPIServerThatStallsAtAnyPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/version", "/api", "/apis", "/apis/jobset.x-k8s.io/v1alpha2", "/apis/kueue.x-k8s.io/v1beta2", "/api/v1",
		"/apis/jobset.x-k8s.io/v1alpha2/jobsets", "/api/v1/namespaces/ml/pods", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/ml"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			api := labtest.NewFakeAPI(t)
			serve := api.Config.Handler
			api.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					<-r.Context().Done()
					return
				}
				serve.ServeHTTP(w, r)
			})
			world := connectToRead(api, t)
			t.Cleanup(func() { api.CloseClientConnections() })
			began := time.Now()
			_, err := Check(t.Context(), world, nil)
			if took := time.Since(began); err == nil || took > cluster.LookWithin+time.Second {
				t.Errorf("a check took %s: %v", took, err)
			}
			if err == nil || !strings.Contains(err.Error(), "gave no answer") || !strings.Contains(err.Error(), "fix: ") {
				t.Errorf("a check says %v", err)
			}
			ctx, interrupt := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer interrupt()
			began = time.Now()
			preflight.Collect(ctx, connectToRead(api, t))
			if took := time.Since(began); took > 800*time.Millisecond {
				t.Errorf("interrupted after 0.3 s, a survey ended after %s", took)
			}
			began = time.Now()
			site := preflight.Collect(t.Context(), connectToRead(api, t))
			if took := time.Since(began); took > 2*cluster.LookWithin {
				t.Errorf("a survey took %s", took)
			}
			if path == "/api/v1/namespaces/ml/pods" || strings.HasSuffix(path, "clusterqueues/ml") || strings.HasSuffix(path, "/jobsets") {
				return // a fake that serves less than a lab ends the survey's questions before these
			}
			if site.Unreachable == nil {
				t.Errorf("the survey found %+v", site)
			}
			content, err := json.Marshal(preflight.Unreachable(site))
			if err != nil || !strings.Contains(string(content), "gave no answer") {
				t.Errorf("it says %s, %v", content, err)
			}
		})
	}
}
