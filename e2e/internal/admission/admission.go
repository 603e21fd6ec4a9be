// Package admission shows what stands between a request and what comes of it: the webhooks
// that are asked, and what comes back otherwise than it was asked for.
package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Webhook is one that a service answers, and that is registered with the API server.
type Webhook struct {
	Registration string // Kind name
	Name         string
	Service      string // namespace/name
	Mutating     bool
	// Unserved says that nobody stands behind the service.
	Unserved bool
	// Demanded says that a request fails which the webhook does not answer.
	Demanded bool

	// Rules and Namespaces are what it is asked of; all namespaces if nil.
	Rules      []admissionv1.RuleWithOperations
	Namespaces *metav1.LabelSelector
}

// Webhooks lists the webhooks of admission.
func Webhooks(ctx context.Context, reader client.Reader) ([]Webhook, error) {
	var (
		mutating   admissionv1.MutatingWebhookConfigurationList
		validating admissionv1.ValidatingWebhookConfigurationList
		endpoints  discoveryv1.EndpointSliceList
	)
	for _, list := range []client.ObjectList{&mutating, &validating, &endpoints} {
		if err := reader.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	served := map[string]bool{}
	for _, slice := range endpoints.Items {
		for _, endpoint := range slice.Endpoints {
			// A missing condition means ready, by the API's definition.
			if len(endpoint.Addresses) > 0 && ptr.Deref(endpoint.Conditions.Ready, true) {
				served[slice.Namespace+"/"+slice.Labels[discoveryv1.LabelServiceName]] = true
			}
		}
	}
	var found []Webhook
	add := func(registration string, config admissionv1.WebhookClientConfig, hook Webhook, policy *admissionv1.FailurePolicyType) {
		if config.Service == nil {
			return
		}
		hook.Registration, hook.Service = registration, config.Service.Namespace+"/"+config.Service.Name
		hook.Demanded = ptr.Deref(policy, admissionv1.Fail) == admissionv1.Fail
		hook.Unserved = !served[hook.Service]
		found = append(found, hook)
	}
	for _, configuration := range mutating.Items {
		for _, hook := range configuration.Webhooks {
			add("MutatingWebhookConfiguration "+configuration.Name, hook.ClientConfig,
				Webhook{Name: hook.Name, Mutating: true, Rules: hook.Rules, Namespaces: hook.NamespaceSelector}, hook.FailurePolicy)
		}
	}
	for _, configuration := range validating.Items {
		for _, hook := range configuration.Webhooks {
			add("ValidatingWebhookConfiguration "+configuration.Name, hook.ClientConfig,
				Webhook{Name: hook.Name, Rules: hook.Rules, Namespaces: hook.NamespaceSelector}, hook.FailurePolicy)
		}
	}
	for i, hook := range found {
		if hook.Unserved {
			found[i].Unserved = !isElsewhere(ctx, reader, hook.Service)
		}
	}
	return found, nil
}

// isElsewhere reports whether a service without endpoints leads out of the cluster, so that
// nobody knows whether it is answered.
func isElsewhere(ctx context.Context, reader client.Reader, name string) bool {
	var service corev1.Service
	namespace, name, _ := strings.Cut(name, "/")
	return reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &service) == nil && service.Spec.Type == corev1.ServiceTypeExternalName
}

// Asked returns the first of these resources, as resource.group, in a namespace with these
// labels that the webhook is asked of; it is empty if there is none.
func (w Webhook) Asked(namespace map[string]string, resources ...string) string {
	if w.Namespaces != nil {
		selector, err := metav1.LabelSelectorAsSelector(w.Namespaces)
		if err != nil || !selector.Matches(labels.Set(namespace)) {
			return ""
		}
	}
	for _, wanted := range resources {
		if slices.ContainsFunc(w.Rules, func(rule admissionv1.RuleWithOperations) bool { return covers(rule.Rule, wanted) }) {
			return wanted
		}
	}
	return ""
}

// covers reports whether a rule is about a resource or about its status.
func covers(rule admissionv1.Rule, wanted string) bool {
	if ptr.Deref(rule.Scope, admissionv1.AllScopes) == admissionv1.ClusterScope {
		return false
	}
	resource, group, _ := strings.Cut(wanted, ".")
	inGroup := slices.Contains(rule.APIGroups, group) || slices.Contains(rule.APIGroups, "*")
	return inGroup && slices.ContainsFunc(rule.Resources, func(r string) bool {
		return slices.Contains([]string{resource, "*", "*/*", resource + "/*", resource + "/status", "*/status"}, r)
	})
}
