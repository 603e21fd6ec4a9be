package cluster

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
)

// ReadyAddresses counts the addresses of a slice that take requests.
func ReadyAddresses(slice discoveryv1.EndpointSlice) int {
	ready := 0
	for _, endpoint := range slice.Endpoints {
		// A missing condition means ready, by the API's definition.
		if ptr.Deref(endpoint.Conditions.Ready, true) {
			ready += len(endpoint.Addresses)
		}
	}
	return ready
}
