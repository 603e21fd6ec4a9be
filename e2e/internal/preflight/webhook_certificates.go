package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/internal/admission"
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
func collectWebhookCertificates(ctx context.Context, w *cluster.Cluster, manager cluster.Manager, registered []admission.Webhook) WebhookCertificates {
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
			ours[admission.HostOf(namespace, service.Name)] = true
		}
	}
	var found WebhookCertificates
	for _, hook := range registered {
		if ours[hook.Host()] {
			found.Webhooks = append(found.Webhooks, Webhook{hook.Registration, hook.Host(), hook.CABundle})
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

// collectCertificates reads those of both managers, by the webhooks that are registered:
// those of admission, which are kept, and those that convert.
func collectCertificates(ctx context.Context, w *cluster.Cluster, facts *Facts) {
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	o := &facts.Interference
	o.Webhooks, o.WebhooksUnread = admission.Webhooks(within, w.API)
	unread := o.WebhooksUnread
	var conversions []admission.Webhook
	if unread == nil {
		conversions, unread = admission.Conversions(within, w.API)
	}
	of := func(manager cluster.Manager) WebhookCertificates {
		switch {
		case manager.Deployment == "":
			return WebhookCertificates{}
		case unread != nil:
			return WebhookCertificates{Unread: unread}
		}
		return collectWebhookCertificates(ctx, w, manager, slices.Concat(o.Webhooks, conversions))
	}
	facts.JobSetCertificates, facts.KueueCertificates = of(facts.JobSet), of(facts.Kueue)
}
