package labtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Asked is one kind of request in the terms of a role.
type Asked struct{ Verb, Group, Resource, Namespace string }

// A FakeAPI is an API server of an untouched lab that notes what it is asked.
type FakeAPI struct {
	*httptest.Server
	mu    sync.Mutex
	Asked map[Asked]bool
	// without names what this lab lacks: a group with its version, or a resource.
	Without string
	// forbids names a resource that nobody may read.
	Forbids string
}

// served are the resources that a check looks at, by group and version.
var served = map[string]map[string]string{
	"v1":                       {"pods": "Pod", "services": "Service", "events": "Event", "nodes": "Node"},
	"apps/v1":                  {"deployments": "Deployment"},
	"batch/v1":                 {"jobs": "Job"},
	"jobset.x-k8s.io/v1alpha2": {"jobsets": "JobSet"},
	"kueue.x-k8s.io/v1beta2":   {"workloads": "Workload", "localqueues": "LocalQueue", "clusterqueues": "ClusterQueue"},
}

func NewFakeAPI(t *testing.T) *FakeAPI {
	api := &FakeAPI{Asked: map[Asked]bool{}}
	api.Server = httptest.NewServer(http.HandlerFunc(api.Serve))
	t.Cleanup(api.Close)
	return api
}

func KubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: lab, contexts: [{name: lab, context: {cluster: lab}}],
		clusters: [{name: lab, cluster: {server: %q}}]}`, server)
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// Serve answers /version, discovery, and lists and gets of what is served.
func (api *FakeAPI) Serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(value any) { _ = json.NewEncoder(w).Encode(value) }
	group, rest := "v1", strings.TrimPrefix(r.URL.Path, "/api/v1")
	if parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 4); parts[0] == "apis" && len(parts) >= 3 {
		group, rest = parts[1]+"/"+parts[2], "/"+strings.Join(parts[3:], "/")
	}
	request := Asked{Verb: map[string]string{"GET": "list"}[r.Method]}
	if request.Group, _, _ = strings.Cut(group, "/"); group == "v1" {
		request.Group = ""
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if parts[0] == "namespaces" && len(parts) > 2 {
		request.Namespace, parts = parts[1], parts[2:]
	}
	request.Resource = parts[0]
	switch kind := served[group][request.Resource]; {
	case group == api.Without:
		http.NotFound(w, r)
		return
	case r.URL.Path == "/version":
		answer(map[string]string{"gitVersion": "v1.37.2"})
		return
	case r.URL.Path == "/api":
		answer(map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	case r.URL.Path == "/apis":
		var groups []any
		for name := range served {
			if group, version, ok := strings.Cut(name, "/"); ok && name != api.Without {
				at := map[string]string{"groupVersion": name, "version": version}
				groups = append(groups, map[string]any{"name": group, "versions": []any{at}, "preferredVersion": at})
			}
		}
		answer(map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
		return
	case rest == "/" || rest == "":
		var resources []any
		for name, kind := range served[group] {
			resources = append(resources, map[string]any{"name": name, "kind": kind, "namespaced": name != "clusterqueues", "verbs": []string{"get", "list"}})
		}
		answer(map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": resources})
		return
	case request.Resource == api.Forbids:
		w.WriteHeader(http.StatusForbidden)
		answer(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusForbidden,
			Reason: metav1.StatusReasonForbidden, Message: request.Resource + " is forbidden"})
	case kind == "", len(parts) > 1 && request.Resource == api.Without:
		http.NotFound(w, r)
	case len(parts) > 1:
		request.Verb = "get"
		answer(map[string]any{"kind": kind, "apiVersion": group, "metadata": map[string]string{"name": parts[1]}})
	case request.Resource == "localqueues" && request.Resource != api.Without:
		answer(map[string]any{"kind": kind + "List", "apiVersion": group, "items": []any{
			map[string]any{"kind": kind, "apiVersion": group, "metadata": map[string]string{"name": "lq", "namespace": "ml"}}}})
	default:
		answer(map[string]any{"kind": kind + "List", "apiVersion": group, "items": []any{}})
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	api.Asked[request] = true
}
