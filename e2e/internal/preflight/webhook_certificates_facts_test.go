package preflight

import (
	"context"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// definition is a CustomResourceDefinition that a webhook converts.
func definition(name, service string, versions ...any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"versions": versions, "conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{
			"clientConfig": map[string]any{"caBundle": "Y2E=", "service": map[string]any{"namespace": "batch", "name": service}}}}},
	}}
}

// certificates are those of one manager, as they are collected.
func certificates(w *cluster.Cluster, manager cluster.Manager) WebhookCertificates {
	facts := &Facts{JobSet: manager}
	collectCertificates(context.Background(), w, facts)
	return facts.JobSetCertificates
}

func TestWhatLeadsToAManagerIsFoundByItsPodsAndNotByNames(t *testing.T) {
	t.Parallel()
	const host = "any-name.batch.svc"
	_, forMetrics := signed("metrics.batch.svc", until)
	_, forHooks := signed(host, until)
	service := func(name string, selector map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name}, Spec: corev1.ServiceSpec{Selector: selector}}
	}
	secret := func(name string, certificate []byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name}, Data: map[string][]byte{corev1.TLSCertKey: certificate}}
	}
	leading := func(namespace, name string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{CABundle: []byte("ca"), Service: &admissionv1.ServiceReference{Namespace: namespace, Name: name}}
	}
	elsewhere := "https://elsewhere.example"
	one := map[string]any{"name": "v1"}
	objects := []client.Object{
		service("any-name", map[string]string{"app": "js"}), service("others", map[string]string{"app": "other"}), service("headless", nil),
		secret("metrics", forMetrics), secret("hooks", forHooks), secret("token", nil),
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Webhooks: []admissionv1.MutatingWebhook{
			{ClientConfig: leading("batch", "any-name")}, {ClientConfig: leading("other", "any-name")}, {ClientConfig: leading("batch", "headless")}}},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "second"}, Webhooks: []admissionv1.ValidatingWebhook{
			{ClientConfig: leading("batch", "any-name")}, {ClientConfig: leading("batch", "others")}, {ClientConfig: admissionv1.WebhookClientConfig{URL: &elsewhere}}}},
		definition("converted", "any-name", one, one), definition("never-converted", "any-name", one), definition("anothers", "others", one, one),
	}
	w := &cluster.Cluster{API: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).Build()}
	manager := cluster.Manager{Deployment: "batch/js", Labels: map[string]string{"app": "js", "more": "yes"}, Secrets: []string{"token", "metrics", "hooks"}}

	trust := certificates(w, manager)
	if trust.Unread != nil {
		t.Fatal(trust.Unread)
	}
	var found []string
	for _, hook := range trust.Webhooks {
		if hook.Host != host || string(hook.CABundle) != "ca" {
			t.Errorf("%+v is not the manager's", hook)
		}
		found = append(found, hook.Registration)
	}
	wanted := []string{"MutatingWebhookConfiguration first", "ValidatingWebhookConfiguration second", "CustomResourceDefinition converted"}
	if !slices.Equal(found, wanted) {
		t.Errorf("found %v, not %v", found, wanted)
	}
	if trust.Secret != "batch/hooks" || string(trust.Certificate) != string(forHooks) {
		t.Errorf("the certificate is taken from %s", trust.Secret)
	}
	manager.Secrets = []string{"missing"}
	if trust := certificates(w, manager); trust.Unread == nil {
		t.Errorf("a secret that cannot be read: %+v", trust)
	}
}
