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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// without names what this lab lacks: a group with its version, or a resource.
	without string
	// forbids names a resource that nobody may read.
	forbids string
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

func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: lab, contexts: [{name: lab, context: {cluster: lab}}],
		clusters: [{name: lab, cluster: {server: %q}}]}`, server)
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

func (api *fakeAPI) connectToRead(t *testing.T) *World {
	t.Helper()
	world, err := ConnectToRead(Settings{Kubeconfig: kubeconfigOf(t, api.URL), WorkDir: filepath.Join(t.TempDir(), "none")})
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
	case group == api.without:
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
			if group, version, ok := strings.Cut(name, "/"); ok && name != api.without {
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
	case request.resource == api.forbids:
		w.WriteHeader(http.StatusForbidden)
		answer(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusForbidden,
			Reason: metav1.StatusReasonForbidden, Message: request.resource + " is forbidden"})
	case kind == "", len(parts) > 1 && request.resource == api.without:
		http.NotFound(w, r)
	case len(parts) > 1:
		request.verb = "get"
		answer(map[string]any{"kind": kind, "apiVersion": group, "metadata": map[string]string{"name": parts[1]}})
	case request.resource == "localqueues" && request.resource != api.without:
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

// What is no lab, or cannot be read, is told as that and graded as nothing.
func TestACheckTellsWhyItCouldNotLook(t *testing.T) {
	for _, wrong := range []struct{ without, forbids, says, mend string }{
		{without: "jobset.x-k8s.io/v1alpha2", says: "has not both JobSet and Kueue", mend: anotherLab},
		{without: "kueue.x-k8s.io/v1beta2", says: "has not both JobSet and Kueue", mend: anotherLab},
		{without: "localqueues", says: "there is no LocalQueue lq in namespace ml", mend: "kubectl apply -f fixtures/lab/lab.yaml"},
		{without: "clusterqueues", says: "there is no ClusterQueue ml", mend: "kubectl apply -f fixtures/lab/lab.yaml"},
		{forbids: "events", says: "events is forbidden", mend: "kubectl apply -f fixtures/check/reader.yaml"},
	} {
		api := newFakeAPI(t)
		api.without, api.forbids = wrong.without, wrong.forbids
		_, err := api.connectToRead(t).Check(context.Background(), nil)
		if err == nil || !strings.Contains(err.Error(), wrong.says) || !strings.Contains(err.Error(), "mend: "+wrong.mend) {
			t.Errorf("without %s%s: %v", wrong.without, wrong.forbids, err)
		}
	}
	api := newFakeAPI(t)
	world := api.connectToRead(t)
	api.Close()
	if _, err := world.Check(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "nothing listens at") {
		t.Errorf("a lab that is gone: %v", err)
	}
}
