package install

import (
	"errors"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/provision/poll"
)

func TestDNSIsReadyWithAReadyEndpointOfItsService(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	endpoints := func(service, namespace string, ready ...*bool) *discoveryv1.EndpointSlice {
		slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice", Namespace: namespace,
			Labels: map[string]string{discoveryv1.LabelServiceName: service}}}
		for _, r := range ready {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Conditions: discoveryv1.EndpointConditions{Ready: r}})
		}
		return slice
	}
	for name, slice := range map[string]*discoveryv1.EndpointSlice{
		"no endpoint":         endpoints("kube-dns", "kube-system"),
		"none that is ready":  endpoints("kube-dns", "kube-system", &no, nil),
		"another Service's":   endpoints("other", "kube-system", &yes),
		"another namespace's": endpoints("kube-dns", "default", &yes),
	} {
		var pending poll.Pending
		if err := labOf(t, slice).dnsReady(t.Context()); !errors.As(err, &pending) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := labOf(t, endpoints("kube-dns", "kube-system", &no, &yes)).dnsReady(t.Context()); err != nil {
		t.Error(err)
	}
}
