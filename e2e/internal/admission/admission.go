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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// A Webhook is one that a service answers, and that is registered with the API server.
type Webhook struct {
	Registration string // Kind name
	Name         string
	Service      string // namespace/name
	CABundle     []byte
	Mutating     bool
	// Unserved says that nobody stands behind the service.
	Unserved bool
	// Demanded says that a request fails which the webhook does not answer.
	Demanded bool

	// Rules and Namespaces are what it is asked of; all namespaces if nil.
	Rules      []admissionv1.RuleWithOperations
	Namespaces *metav1.LabelSelector
}

// Host is the name by which the API server calls the webhook.
func (w Webhook) Host() string {
	namespace, name, _ := strings.Cut(w.Service, "/")
	return HostOf(namespace, name)
}

// HostOf is the name by which the API server calls a service.
func HostOf(namespace, service string) string { return service + "." + namespace + ".svc" }

// Webhooks lists the webhooks of admission that lead to a service.
func Webhooks(ctx context.Context, reader client.Reader) ([]Webhook, error) {
	var (
		mutating   admissionv1.MutatingWebhookConfigurationList
		validating admissionv1.ValidatingWebhookConfigurationList
		found      []Webhook
	)
	for _, list := range []client.ObjectList{&mutating, &validating} {
		if err := reader.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	add := func(registration string, config admissionv1.WebhookClientConfig, hook Webhook, policy *admissionv1.FailurePolicyType) {
		hook.Demanded = ptr.Deref(policy, admissionv1.Fail) == admissionv1.Fail
		found = append(found, leading(registration, config, hook)...)
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
	return found, nil
}

// leading is the webhook with what leads to it; none if that is no service.
func leading(registration string, config admissionv1.WebhookClientConfig, hook Webhook) []Webhook {
	if config.Service == nil {
		return nil
	}
	hook.Registration, hook.Service, hook.CABundle = registration, config.Service.Namespace+"/"+config.Service.Name, config.CABundle
	return []Webhook{hook}
}

// Conversions lists the webhooks that convert a kind which really has two versions to
// convert between, and that lead to a service.
func Conversions(ctx context.Context, reader client.Reader) ([]Webhook, error) {
	var (
		definitions unstructured.UnstructuredList
		found       []Webhook
	)
	definitions.SetAPIVersion("apiextensions.k8s.io/v1")
	definitions.SetKind("CustomResourceDefinitionList")
	if err := reader.List(ctx, &definitions); err != nil {
		return nil, fmt.Errorf("listing %T: %w", &definitions, err)
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
		found = append(found, leading("CustomResourceDefinition "+definition.GetName(), config, Webhook{})...)
	}
	return found, nil
}

// FindUnserved marks the webhooks behind whose service nobody stands.
func FindUnserved(ctx context.Context, reader client.Reader, hooks []Webhook) error {
	var endpoints discoveryv1.EndpointSliceList
	if err := reader.List(ctx, &endpoints); err != nil {
		return fmt.Errorf("listing %T: %w", &endpoints, err)
	}
	served := map[string]bool{}
	for _, slice := range endpoints.Items {
		if cluster.ReadyAddresses(slice) > 0 {
			served[slice.Namespace+"/"+slice.Labels[discoveryv1.LabelServiceName]] = true
		}
	}
	for i, hook := range hooks {
		hooks[i].Unserved = !served[hook.Service] && !isElsewhere(ctx, reader, hook.Service)
	}
	return nil
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
