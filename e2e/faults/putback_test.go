package faults

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func configMap(name, value string) *unstructured.Unstructured {
	o := object("v1", "ConfigMap", "ml", name)
	o.Object["data"] = map[string]any{"key": value}
	return o
}

// A fakeNode notes the commands that are run. What is proven on it depends on
// whether commands have been undone.
type fakeNode struct {
	commands []string
	began    map[string]bool
	fails    func(command string) error
}

func (n *fakeNode) run(_ context.Context, id, command string) error {
	n.commands = append(n.commands, command)
	if n.began == nil {
		n.began = map[string]bool{}
	}
	n.began[id] = true
	if n.fails != nil {
		return n.fails(command)
	}
	return nil
}

func (n *fakeNode) end(_ context.Context, id string) (bool, error) { return n.began[id], nil }
func (n *fakeNode) forget(context.Context) error                   { return nil }

// fakeCluster holds these objects. A ConfigMap named fixed cannot be changed in it.
func fakeCluster(objects ...client.Object) client.Client {
	refuse := interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		if o.GetName() == "fixed" {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "fixed", nil)
		}
		return c.Patch(ctx, o, p, opts...)
	}}
	return fake.NewClientBuilder().WithReturnManagedFields().WithObjects(objects...).WithInterceptorFuncs(refuse).Build()
}

// injectionOn is an injection into a cluster.
func injectionOn(cluster client.Client, on node) *Injection {
	return &Injection{client: cluster, node: on, journal: &journal{client: cluster, fault: "tried", run: "run-1", holder: "a test"}}
}

// made plans actions and does them.
func made(ctx context.Context, i *Injection, actions []Action) error {
	return errors.Join(i.plan(ctx, actions), i.do(ctx, actions))
}

func reference(name string) Object {
	return Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ml", Name: name}
}

func value(t *testing.T, i *Injection, name string) string {
	t.Helper()
	live, err := i.read(t.Context(), reference(name))
	if err != nil {
		t.Fatal(err)
	}
	if live == nil {
		return "not there"
	}
	found, _, _ := unstructured.NestedString(live.Object, "data", "key")
	return found
}

func TestEverythingIsPutBack(t *testing.T) {
	t.Parallel()
	on := &fakeNode{}
	i := injectionOn(fakeCluster(configMap("changed", "before"), configMap("deleted", "before"), configMap("fixed", "before")), on)
	err := made(t.Context(), i, []Action{
		{Patch: &Patch{Object: reference("changed"), Merge: map[string]any{"data": map[string]any{"key": "after", "more": "x"}}}},
		{Patch: &Patch{Object: reference("changed"), JSON: []any{map[string]any{"op": "replace", "path": "/data/key", "value": "later"}}}},
		{Node: &Node{Do: "break one", Undo: "restore one"}},
		{Node: &Node{Do: "break two", Undo: "restore two"}},
		{Delete: &Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ml", Name: "deleted"}},
		{Delete: &Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ml", Name: "fixed"}},
		{Apply: configMap("fixed", "after")},
		{Apply: configMap("new", "after")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, wanted := range map[string]string{"changed": "later", "deleted": "not there", "fixed": "after", "new": "after"} {
		if found := value(t, i, name); found != wanted {
			t.Errorf("broken, %s is %q and not %q", name, found, wanted)
		}
	}
	left, err := i.drift(t.Context())
	if err != nil || len(left) != 4 {
		t.Errorf("before it is restored %d of 4 are reported: %v, %v", len(left), left, err)
	}

	if err := i.restoreAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, wanted := range map[string]string{"changed": "before", "deleted": "before", "fixed": "before", "new": "not there"} {
		if found := value(t, i, name); found != wanted {
			t.Errorf("restored, %s is %q and not %q", name, found, wanted)
		}
	}
	if left, err := i.drift(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("it is restored, and this is reported to be left: %v, %v", left, err)
	}
	if wanted := []string{"break one", "break two", "restore two", "restore one"}; !slices.Equal(on.commands, wanted) {
		t.Errorf("on the node %v was run and not %v", on.commands, wanted)
	}
}

func TestWhatIsNotPutBackIsReported(t *testing.T) {
	t.Parallel()
	i := injectionOn(fakeCluster(configMap("changed", "before"), configMap("deleted", "before")), nil)
	if err := i.plan(t.Context(), []Action{
		{Patch: &Patch{Object: reference("changed")}}, {Delete: ptr.To(reference("deleted"))}, {Apply: configMap("new", "")},
	}); err != nil {
		t.Fatal(err)
	}
	changed := configMap("changed", "after")
	if err := errors.Join(i.client.Update(t.Context(), changed), i.client.Delete(t.Context(), configMap("deleted", "")),
		i.client.Create(t.Context(), configMap("new", ""), client.FieldOwner(fieldManager))); err != nil {
		t.Fatal(err)
	}
	left, err := i.drift(t.Context())
	reported := strings.Join(left, "\n")
	for _, words := range []string{"ConfigMap changed in ml is not as it was", `"key":"before"`, "ConfigMap deleted in ml is not there again", "ConfigMap new in ml is still there"} {
		if err != nil || !strings.Contains(reported, words) {
			t.Errorf("%q is not in (%v):\n%s", words, err, reported)
		}
	}
}

func TestOnlyWhatSomebodyWroteIsCompared(t *testing.T) {
	t.Parallel()
	before, live := object("apps/v1", "Deployment", "ml", "d"), object("apps/v1", "Deployment", "ml", "d")
	live.Object["status"] = map[string]any{"replicas": int64(1)}
	live.SetResourceVersion("7")
	live.SetGeneration(3)
	live.SetAnnotations(map[string]string{"deployment.kubernetes.io/revision": "2"})
	if patch, err := difference(live, before); patch != nil || err != nil {
		t.Errorf("what the cluster itself wrote counts: %s, %v", patch, err)
	}
	live.SetAnnotations(map[string]string{"deployment.kubernetes.io/revision": "2", "fault": "x"})
	if patch, _ := difference(live, before); !strings.Contains(string(patch), "annotations") {
		t.Errorf("an annotation that a fault left does not count: %s", patch)
	}
}

func TestWithoutANameThereMustBeOne(t *testing.T) {
	t.Parallel()
	i := injectionOn(fakeCluster(object("v1", "Node", "", "one"), object("v1", "Node", "", "two")), nil)
	if _, err := i.read(t.Context(), Object{APIVersion: "v1", Kind: "Node"}); err == nil || !strings.Contains(err.Error(), "there are 2 of Node") {
		t.Errorf("of two nodes one was taken: %v", err)
	}
	if err := made(t.Context(), i, []Action{{Patch: &Patch{Object: reference("gone"), Merge: map[string]any{"a": "b"}}}}); err == nil || !strings.Contains(err.Error(), "it is not there") {
		t.Errorf("what is not there was patched: %v", err)
	}
}

func TestARolloutThatIsOnItsWayIsNotThere(t *testing.T) {
	t.Parallel()
	deployment := object("apps/v1", "Deployment", "ml", "d")
	deployment.SetGeneration(2)
	deployment.Object["spec"] = map[string]any{"replicas": int64(1)}
	for says, status := range map[string]map[string]any{
		"":                              {"observedGeneration": int64(2), "updatedReplicas": int64(1), "availableReplicas": int64(1)},
		"1 of 1 are updated, 1 availab": {"observedGeneration": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1)},
		"0 of 1 are updated":            {"observedGeneration": int64(2), "availableReplicas": int64(1)},
		"1 of 1 are updated, 0":         {"observedGeneration": int64(2), "updatedReplicas": int64(1)},
	} {
		deployment.Object["status"] = status
		if _, reported := rolledOut(deployment); (reported == "") != (says == "") || !strings.Contains(reported, says) {
			t.Errorf("%v gave %q and not %q", status, reported, says)
		}
	}
}
