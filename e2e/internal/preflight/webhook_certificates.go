package preflight

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// WebhookCertificates are what the API server's calls to a manager's webhooks rest on:
// the certificate that the manager serves, and the authority by which each webhook
// registration expects it to be signed.
type WebhookCertificates struct {
	Webhooks []Webhook
	// Secret is namespace/name of the one that the manager's pods take the
	// certificate from, and Certificate its tls.crt, in PEM; empty if they mount
	// none that holds one.
	Secret      string
	Certificate []byte
	// Unread is why all this could not be read.
	Unread error
}

// A Webhook is one registered webhook that leads to the manager.
type Webhook struct {
	Registration string // Kind name
	Host         string // the name that the API server calls, and that the certificate must be for
	CABundle     []byte
}

// collectWebhookCertificates reads what leads to a manager: it is found by the service that a
// webhook names and by the pods that this service selects, whatever they are called.
func collectWebhookCertificates(ctx context.Context, w *cluster.Cluster, manager cluster.Manager) WebhookCertificates {
	ctx, cancel := cluster.Brief(ctx)
	defer cancel()
	namespace, _, _ := strings.Cut(manager.Deployment, "/")
	var services corev1.ServiceList
	if err := w.API.List(ctx, &services, client.InNamespace(namespace)); err != nil {
		return WebhookCertificates{Unread: fmt.Errorf("listing the services of namespace %s: %w", namespace, err)}
	}
	ours := map[string]bool{}
	for _, service := range services.Items {
		if len(service.Spec.Selector) > 0 && labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(manager.Labels)) {
			ours[hostOf(namespace, service.Name)] = true
		}
	}
	all, err := webhooks(ctx, w)
	if err != nil {
		return WebhookCertificates{Unread: err}
	}
	var found WebhookCertificates
	for _, hook := range all {
		if ours[hook.Host] {
			found.Webhooks = append(found.Webhooks, hook)
		}
	}
	for _, name := range manager.Secrets {
		var secret corev1.Secret
		if err := w.API.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
			return WebhookCertificates{Webhooks: found.Webhooks, Unread: fmt.Errorf("reading secret %s of namespace %s: %w", name, namespace, err)}
		}
		certificate := secret.Data[corev1.TLSCertKey]
		if len(certificate) == 0 {
			continue
		}
		// Metrics have a certificate of their own at times: that for a webhook's name is meant.
		if found.Certificate == nil || len(found.Webhooks) > 0 && isFor(certificate, found.Webhooks[0].Host) {
			found.Secret, found.Certificate = namespace+"/"+name, certificate
		}
	}
	return found
}

// hostOf is the name by which the API server calls a service.
func hostOf(namespace, service string) string { return service + "." + namespace + ".svc" }

// webhooks lists every webhook that is registered with the API server and leads to
// a service: those of admission, and those that convert a kind which really has
// two versions to convert between.
func webhooks(ctx context.Context, w *cluster.Cluster) ([]Webhook, error) {
	var (
		mutating    admissionv1.MutatingWebhookConfigurationList
		validating  admissionv1.ValidatingWebhookConfigurationList
		definitions unstructured.UnstructuredList
		hooks       []Webhook
	)
	definitions.SetAPIVersion("apiextensions.k8s.io/v1")
	definitions.SetKind("CustomResourceDefinitionList")
	for _, list := range []client.ObjectList{&mutating, &validating, &definitions} {
		if err := w.API.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	add := func(kind, name string, config admissionv1.WebhookClientConfig) {
		if config.Service != nil {
			hooks = append(hooks, Webhook{kind + " " + name, hostOf(config.Service.Namespace, config.Service.Name), config.CABundle})
		}
	}
	for _, configuration := range mutating.Items {
		for _, hook := range configuration.Webhooks {
			add("MutatingWebhookConfiguration", configuration.Name, hook.ClientConfig)
		}
	}
	for _, configuration := range validating.Items {
		for _, hook := range configuration.Webhooks {
			add("ValidatingWebhookConfiguration", configuration.Name, hook.ClientConfig)
		}
	}
	for _, definition := range definitions.Items {
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		written, converts, _ := unstructured.NestedMap(definition.Object, "spec", "conversion", "webhook", "clientConfig")
		if !converts || len(versions) < 2 {
			continue
		}
		// The field has the same form as an admission webhook's.
		var config admissionv1.WebhookClientConfig
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written, &config); err != nil {
			return nil, fmt.Errorf("reading the conversion webhook of CustomResourceDefinition %s: %w", definition.GetName(), err)
		}
		add("CustomResourceDefinition", definition.GetName(), config)
	}
	return hooks, nil
}
