package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"gsb.test/jobset-e2e/fixtures"
)

func patched(name, value string) Action {
	return Action{Patch: &Patch{Object: reference(name), Merge: map[string]any{"data": map[string]any{"key": value}}}}
}

// everyKind is a fault with every kind of action, in which one object is changed
// twice, and another is deleted and made anew.
var everyKind = []Action{
	patched("queue", "first"),
	{Apply: configMap("check", "new")},
	patched("queue", "names check"),
	{Node: &Node{Do: "break", Undo: "restore"}},
	{Delete: ptr.To(reference("deleted"))},
	{Apply: configMap("deleted", "another")},
	{Delete: ptr.To(reference("gone"))},
}

// refusing is a cluster in which check cannot be deleted while queue names it, as
// an AdmissionCheck cannot while a ClusterQueue does.
func refusing() client.Client {
	refuse := interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
		queue := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "ml", Name: "queue"}, queue); err == nil && o.GetName() == "check" && queue.Data["key"] == "names check" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "check", errors.New("queue names it"))
		}
		return c.Delete(ctx, o, opts...)
	}}
	return fake.NewClientBuilder().WithReturnManagedFields().WithInterceptorFuncs(refuse).
		WithObjects(configMap("queue", "before"), configMap("deleted", "before"), configMap("other", "untouched")).Build()
}

// state is what the ConfigMaps of the namespace hold.
func state(t *testing.T, cluster client.Client) map[string]string {
	t.Helper()
	var all corev1.ConfigMapList
	if err := cluster.List(t.Context(), &all, client.InNamespace("ml")); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, config := range all.Items {
		found[config.Name] = fmt.Sprint(config.Data)
	}
	return found
}

// restored restores a cluster as another machine does, which has nothing but the
// journal that lies in it.
func restored(t *testing.T, cluster client.Client, on node) {
	t.Helper()
	left, err := readJournal(t.Context(), cluster)
	if err != nil || left == nil {
		t.Fatalf("the journal is %v, %v", left, err)
	}
	i := &Injection{client: cluster, node: on, journal: left}
	if err := i.restoreAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := i.drift(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("it is restored, and this is reported to be left: %v, %v", left, err)
	}
	if err := left.remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := readJournal(t.Context(), cluster); left != nil || err != nil {
		t.Errorf("after all is restored the journal is %v, %v", left, err)
	}
}

func TestKilledAfterAnyActItIsRestoredByTheJournalAlone(t *testing.T) {
	t.Parallel()
	for n := range len(everyKind) + 1 {
		t.Run(fmt.Sprintf("after %d acts", n), func(t *testing.T) {
			cluster, on := refusing(), &fakeNode{}
			before := state(t, cluster)
			i := injectionOn(cluster, on)
			if err := errors.Join(i.plan(t.Context(), everyKind), i.do(t.Context(), everyKind[:n])); err != nil {
				t.Fatal(err)
			}
			if n > 0 && maps.Equal(before, state(t, cluster)) {
				t.Fatal("nothing is broken")
			}
			restored(t, cluster, on)
			if after := state(t, cluster); !maps.Equal(before, after) {
				t.Errorf("before it was\n%v\nafter it is\n%v", before, after)
			}
			if undone := slices.Contains(on.commands, "restore"); undone != (n > 3) {
				t.Errorf("on the node %v was run", on.commands)
			}
		})
	}
}

func TestKilledWhileItIsRestoredItIsRestoredAgain(t *testing.T) {
	t.Parallel()
	for n := range len(everyKind) + 1 {
		cluster, on := refusing(), &fakeNode{}
		before := state(t, cluster)
		i := injectionOn(cluster, on)
		if err := made(t.Context(), i, everyKind); err != nil {
			t.Fatal(err)
		}
		entries := i.journal.list()
		slices.Reverse(entries)
		for _, e := range entries[:n] {
			if err := i.restore(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		restored(t, cluster, on)
		if after := state(t, cluster); !maps.Equal(before, after) {
			t.Errorf("killed after %d of %d: before it was\n%v\nafter it is\n%v", n, len(entries), before, after)
		}
	}
}

func TestTheJournalIsWrittenBeforeTheFirstChange(t *testing.T) {
	t.Parallel()
	var written []string
	note := func(o client.Object) { written = append(written, o.GetNamespace()+"/"+o.GetName()) }
	cluster := fake.NewClientBuilder().WithObjects(configMap("queue", "before"), configMap("deleted", "before")).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			note(o)
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			note(o)
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note(o)
			return c.Delete(ctx, o, opts...)
		},
	}).Build()
	i := injectionOn(cluster, nil)
	if err := made(t.Context(), i, []Action{patched("queue", "after"), {Delete: ptr.To(reference("deleted"))}}); err != nil {
		t.Fatal(err)
	}
	if wanted := []string{"kube-system/" + fixtures.FaultJournal, "ml/queue", "ml/deleted"}; !slices.Equal(written, wanted) {
		t.Errorf("written was %v and not %v", written, wanted)
	}
}

func TestWithoutAJournalNothingIsTouched(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientBuilder().WithObjects(configMap("queue", "before")).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, fixtures.FaultJournal, nil)
		}}).Build()
	i := injectionOn(cluster, nil)
	if err := i.plan(t.Context(), []Action{patched("queue", "after")}); err == nil {
		t.Fatal("a fault begins without its journal")
	}
	if found := value(t, i, "queue"); found != "before" {
		t.Errorf("queue is %q", found)
	}
}

func TestAFaultThatAnotherRunLeftIsReportedAndNotWrittenOver(t *testing.T) {
	t.Parallel()
	cluster := refusing()
	first := injectionOn(cluster, &fakeNode{})
	first.journal.fault, first.journal.run, first.journal.holder = "dns-denied", "run-0", "lab-e2e faults, ann@laptop, process 7"
	if err := made(t.Context(), first, everyKind); err != nil {
		t.Fatal(err)
	}
	second := injectionOn(cluster, nil)
	err := second.plan(t.Context(), []Action{patched("other", "after")})
	for _, words := range []string{"fault dns-denied is still in this lab", "ann@laptop", "run-0", "lab-e2e faults --restore"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is not in: %v", words, err)
		}
	}
	// Nor does a run remove what is not its own.
	if err := second.journal.remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := readJournal(t.Context(), cluster); left == nil || err != nil || left.run != "run-0" {
		t.Errorf("the journal is %v, %v", left, err)
	}
}

func TestWhatSomebodyElseMadeIsNotTakenForTheFaults(t *testing.T) {
	t.Parallel()
	cluster := refusing()
	i := injectionOn(cluster, &fakeNode{})
	if err := i.plan(t.Context(), everyKind); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Create(t.Context(), configMap("check", "a learner's"), client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
	restored(t, cluster, &fakeNode{})
	if found := value(t, i, "check"); found != "a learner's" {
		t.Errorf("check is %q", found)
	}
}

func TestAnObjectLargerThanAConfigMapFits(t *testing.T) {
	t.Parallel()
	large := configMap("queue", strings.Repeat("description: the same words again\n", 60_000))
	cluster := fake.NewClientBuilder().WithObjects(large).Build()
	i := injectionOn(cluster, nil)
	if err := made(t.Context(), i, []Action{patched("queue", "small")}); err != nil {
		t.Fatal(err)
	}
	left, err := readJournal(t.Context(), cluster)
	if err != nil || len(left.config.BinaryData[entriesKey]) > 500_000 {
		t.Fatalf("the journal has %d bytes, %v", len(left.config.BinaryData[entriesKey]), err)
	}
	kept, _, _ := unstructured.NestedString(left.entries[0].Before.Object, "data", "key")
	if wanted, _, _ := unstructured.NestedString(large.Object, "data", "key"); kept != wanted {
		t.Errorf("%d bytes are kept, and there were %d", len(kept), len(wanted))
	}
}
