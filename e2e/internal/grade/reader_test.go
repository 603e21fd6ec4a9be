package grade

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

func connectToRead(api *labtest.FakeAPI, t *testing.T) *cluster.Cluster {
	t.Helper()
	target, err := cluster.ConnectToRead(settings.Settings{Kubeconfig: labtest.KubeconfigOf(t, api.URL), WorkDir: filepath.Join(t.TempDir(), "none")})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// The role that a lab author applies allows what a check asks for, nothing that
// writes, and nothing that a check does not ask for.
func TestTheReadersRoleIsWhatACheckAsksFor(t *testing.T) {
	t.Parallel()
	api := labtest.NewFakeAPI(t)
	if _, err := Check(context.Background(), connectToRead(api, t), nil); err != nil {
		t.Fatal(err)
	}
	if len(api.Asked) < 8 {
		t.Fatalf("the check asked only for %v", api.Asked)
	}
	needed := map[labtest.Asked]bool{}
	for request := range api.Asked {
		needed[labtest.Asked{Group: request.Group, Resource: request.Resource, Namespace: request.Namespace}] = true
	}
	allowed := map[labtest.Asked]bool{}
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
				allowed[labtest.Asked{Group: rule.APIGroups[0], Resource: resource, Namespace: role.Namespace}] = true
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

// What is no lab, or cannot be read, is reported as that and graded as nothing.
func TestACheckSaysWhyItCouldNotLook(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct {
		without, forbids, says, fix string
		code                        snapshot.Code
	}{
		{without: "jobset.x-k8s.io/v1alpha2", says: "has not both JobSet and Kueue", fix: anotherLab, code: preflight.JobSetNotInstalled},
		{without: "kueue.x-k8s.io/v1beta2", says: "has not both JobSet and Kueue", fix: anotherLab, code: preflight.KueueNotInstalled},
		{forbids: "pods", says: "may not list pods", fix: "kubectl apply -f fixtures/check/reader.yaml", code: preflight.FactUnreadable},
	} {
		api := labtest.NewFakeAPI(t)
		api.Without, api.Forbids = wrong.without, wrong.forbids
		_, err := Check(context.Background(), connectToRead(api, t), threeSteps)
		if err == nil || !strings.Contains(err.Error(), wrong.says) || !strings.Contains(err.Error(), "fix: "+wrong.fix) {
			t.Errorf("without %s%s: %v", wrong.without, wrong.forbids, err)
		}
		if ungraded := Ungraded(cmp.Or(err, errors.New("none"))); ungraded.Code != wrong.code {
			t.Errorf("without %s%s: code %s, not %s", wrong.without, wrong.forbids, ungraded.Code, wrong.code)
		}
	}
	api := labtest.NewFakeAPI(t)
	target := connectToRead(api, t)
	api.Close()
	if _, err := Check(context.Background(), target, nil); err == nil || !strings.Contains(err.Error(), "nothing listens at") {
		t.Errorf("a lab that is gone: %v", err)
	}
}
