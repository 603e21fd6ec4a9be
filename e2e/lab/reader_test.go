package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/fixtures"
)

// asked is one kind of request in the terms of a role.
type asked struct{ verb, group, resource, namespace string }

// A fakeAPI is an API server of an untouched lab that notes what it is asked.
type fakeAPI struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[asked]bool
}

// served are the resources that a check looks at, by group and version.
var served = map[string]map[string]string{
	"v1":                       {"pods": "Pod", "services": "Service", "events": "Event"},
	"batch/v1":                 {"jobs": "Job"},
	"jobset.x-k8s.io/v1alpha2": {"jobsets": "JobSet"},
	"kueue.x-k8s.io/v1beta2":   {"workloads": "Workload", "localqueues": "LocalQueue", "clusterqueues": "ClusterQueue"},
}

func newFakeAPI(t *testing.T) *fakeAPI {
	api := &fakeAPI{asked: map[asked]bool{}}
	api.Server = httptest.NewServer(http.HandlerFunc(api.serve))
	t.Cleanup(api.Close)
	return api
}

func (api *fakeAPI) connectToRead(t *testing.T) *World {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: lab, contexts: [{name: lab, context: {cluster: lab}}],
		clusters: [{name: lab, cluster: {server: %q}}]}`, api.URL)
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	world, err := ConnectToRead(Settings{Kubeconfig: kubeconfig, WorkDir: filepath.Join(t.TempDir(), "none")})
	if err != nil {
		t.Fatal(err)
	}
	return world
}

// serve answers /version, discovery, and lists and gets of what is served.
func (api *fakeAPI) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(value any) { _ = json.NewEncoder(w).Encode(value) }
	group, rest := "v1", strings.TrimPrefix(r.URL.Path, "/api/v1")
	if parts := strings.SplitN(strings.Trim(r.URL.Path, "/"), "/", 4); parts[0] == "apis" && len(parts) >= 3 {
		group, rest = parts[1]+"/"+parts[2], "/"+strings.Join(parts[3:], "/")
	}
	request := asked{verb: map[string]string{"GET": "list"}[r.Method]}
	if request.group, _, _ = strings.Cut(group, "/"); group == "v1" {
		request.group = ""
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if parts[0] == "namespaces" && len(parts) > 2 {
		request.namespace, parts = parts[1], parts[2:]
	}
	request.resource = parts[0]
	switch kind := served[group][request.resource]; {
	case r.URL.Path == "/version":
		answer(map[string]string{"gitVersion": "v1.37.2"})
		return
	case r.URL.Path == "/api":
		answer(map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
		return
	case r.URL.Path == "/apis":
		var groups []any
		for name := range served {
			if group, version, ok := strings.Cut(name, "/"); ok {
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
	case kind == "":
		http.NotFound(w, r)
	case len(parts) > 1:
		request.verb = "get"
		answer(map[string]any{"kind": kind, "apiVersion": group, "metadata": map[string]string{"name": parts[1]}})
	case request.resource == "localqueues":
		answer(map[string]any{"kind": kind + "List", "apiVersion": group, "items": []any{
			map[string]any{"kind": kind, "apiVersion": group, "metadata": map[string]string{"name": "lq", "namespace": "ml"}}}})
	default:
		answer(map[string]any{"kind": kind + "List", "apiVersion": group, "items": []any{}})
	}
	api.mu.Lock()
	defer api.mu.Unlock()
	api.asked[request] = true
}

// The role that a lab author applies allows what a check asks for, nothing that
// writes, and nothing that a check does not ask for.
func TestTheReadersRoleIsWhatACheckAsksFor(t *testing.T) {
	api := newFakeAPI(t)
	if _, err := api.connectToRead(t).Check(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if len(api.asked) < 8 {
		t.Fatalf("the check asked only for %v", api.asked)
	}
	needed := map[asked]bool{}
	for request := range api.asked {
		needed[asked{group: request.group, resource: request.resource, namespace: request.namespace}] = true
	}
	allowed := map[asked]bool{}
	for document := range strings.SplitSeq(string(fixtures.CheckReader), "\n---\n") {
		// A Role and a ClusterRole have the same fields.
		var role rbacv1.Role
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				if verb != "get" && verb != "list" && verb != "watch" {
					t.Errorf("%s %s allows to %s", role.Kind, role.Name, verb)
				}
			}
			for _, resource := range rule.Resources {
				allowed[asked{group: rule.APIGroups[0], resource: resource, namespace: role.Namespace}] = true
			}
		}
	}
	for request := range needed {
		if !allowed[request] {
			t.Errorf("a check asks for %+v, and reader.yaml does not allow it", request)
		}
	}
	for request := range allowed {
		if !needed[request] {
			t.Errorf("reader.yaml allows %+v, and a check does not ask for it", request)
		}
	}
}
