package install

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/provision/poll"
)

// briefly gives a wait time for a second look and no more.
func briefly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*poll.PollInterval)
	t.Cleanup(cancel)
	return ctx
}

func TestKueuesWebhooksComeAfterTheJobSetManagersPod(t *testing.T) {
	t.Parallel()
	pod := func(namespace string) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "jobset-controller-manager-x"}}
	}
	webhooks := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: kueueWebhooks}}
	for _, test := range []struct {
		name    string
		objects []client.Object
		holds   bool
	}{
		{"nothing", nil, false},
		{"a pod elsewhere", []client.Object{pod("kube-system")}, false},
		{"the pod", []client.Object{pod("jobset-system")}, true},
		{"the webhooks are there already, the pod is not", []client.Object{webhooks}, true},
	} {
		err := holding(test.objects...).jobSetHasPod(briefly(t))
		if (err == nil) != test.holds {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "no pod in jobset-system") {
			t.Errorf("%s: it does not say what it saw: %v", test.name, err)
		}
	}
}

func TestANamespaceIsMadeAndWaitedFor(t *testing.T) {
	t.Parallel()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "default"}}
	now := metav1.Now()
	going := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml", DeletionTimestamp: &now, Finalizers: []string{"kubernetes"}}}
	for _, test := range []struct {
		name, says string
		objects    []client.Object
	}{
		{"without its ServiceAccount", "no ServiceAccount default", nil},
		{"on its way out", "being deleted", []client.Object{going, account}},
		{"made", "", []client.Object{account}},
		{"there", "", []client.Object{account, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}}},
	} {
		c := holding(test.objects...)
		err := c.EnsureNamespace(briefly(t), "ml")
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v; it should say %q", test.name, err, test.says)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "ml"}, &corev1.Namespace{}); err != nil {
			t.Errorf("%s: the namespace is not there: %v", test.name, err)
		}
	}
}
