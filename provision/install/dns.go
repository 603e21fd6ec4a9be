package install

import (
	"context"
	"fmt"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/poll"
)

// dnsService is the Service of the cluster's DNS server, as kubeadm names it.
const dnsService = "kube-dns"

// DNS waits until a pod of the cluster's DNS server is ready. kubeadm deploys CoreDNS,
// which starts only after the node is Ready, and no other part of the lab needs it.
func DNS(ctx context.Context, c *Cluster, _ images.Set) (string, error) {
	err := poll.For(ctx, "the cluster's DNS server", c.dnsReady)
	if err != nil {
		return "", fmt.Errorf("%w\nsee: kubectl --kubeconfig %s -n %s describe pods -l k8s-app=%s",
			err, c.kubeconfig, metav1.NamespaceSystem, dnsService)
	}
	return "CoreDNS is ready", nil
}

func (c *Cluster) dnsReady(ctx context.Context) error {
	endpoints := &discoveryv1.EndpointSliceList{}
	if err := c.List(ctx, endpoints, client.InNamespace(metav1.NamespaceSystem),
		client.MatchingLabels{discoveryv1.LabelServiceName: dnsService}); err != nil {
		return err
	}
	for _, slice := range endpoints.Items {
		for _, endpoint := range slice.Endpoints {
			if ready := endpoint.Conditions.Ready; ready != nil && *ready {
				return nil
			}
		}
	}
	return poll.Pendingf("Service %s/%s has no ready endpoint", metav1.NamespaceSystem, dnsService)
}
