package preflight

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// dnsService is the Service that a conformant cluster's DNS answers at, in
// kube-system, whatever runs behind it.
const dnsService = "kube-dns"

// Interference is what keeps a step from going as the lab text says, though
// everything that the text names is there.
type Interference struct {
	// Flavors are all ResourceFlavors.
	Flavors []kueuev1.ResourceFlavor
	// WaitingForQuota and HoldingQuota are the Workloads of others in the lab's
	// ClusterQueue, as namespace/name: those not admitted, and those that hold quota.
	WaitingForQuota, HoldingQuota []string

	// Limits, Quotas and Policies are those of the lab's namespace.
	Limits   []corev1.LimitRange
	Quotas   []corev1.ResourceQuota
	Policies []networkingv1.NetworkPolicy

	// Webhooks are all that requests are put before.
	Webhooks       []admission.Webhook
	WebhooksUnread error

	// HasDNS reports whether there is a Service kube-dns, DNSReady how many ready
	// addresses it leads to.
	HasDNS   bool
	DNSReady int
	// ServiceIPs are the addresses of all Services.
	ServiceIPs []string
	// Taken are the objects of the namespace, as Kind/name, that bear the name of what a
	// JobSet of the steps makes, and that no JobSet made.
	Taken []string

	// Queued is what a JobSet with a queue label comes back as from a dry run;
	// nil if that was not answered.
	Queued *jobsetv1.JobSet
	// Unqueued is the same of one without a queue label.
	Unqueued *jobsetv1.JobSet
	// HasDefaultQueue reports whether the lab's namespace has a LocalQueue "default".
	HasDefaultQueue bool
	// Parts are the JobSets of the steps and what the controllers make of them.
	Parts []admission.Part

	// Lenders are the other ClusterQueues and the Cohorts of the lab's ClusterQueue's
	// cohort that have GPUs of their own, as Kind/name, Borrowable how many GPUs they have.
	Lenders    []string
	Borrowable int64
}

// collectInterference reads it. A part that cannot be read is not judged, and is
// reported with all else that could not be read.
func collectInterference(ctx context.Context, w *cluster.Cluster, facts *Facts) {
	o := &facts.Interference
	read := facts.reader(ctx)
	inLab := client.InNamespace(w.Pins.Namespace)
	read("the ResourceFlavors", func(ctx context.Context) error {
		var flavors kueuev1.ResourceFlavorList
		err := w.API.List(ctx, &flavors)
		o.Flavors = flavors.Items
		return err
	})
	read("the Workloads of all namespaces", func(ctx context.Context) error { return collectQueueUsers(ctx, w, facts) })
	read("the LimitRanges", func(ctx context.Context) error {
		var limits corev1.LimitRangeList
		err := w.API.List(ctx, &limits, inLab)
		o.Limits = limits.Items
		return err
	})
	read("the ResourceQuotas", func(ctx context.Context) error {
		var quotas corev1.ResourceQuotaList
		err := w.API.List(ctx, &quotas, inLab)
		o.Quotas = quotas.Items
		return err
	})
	read("the NetworkPolicies", func(ctx context.Context) error {
		var policies networkingv1.NetworkPolicyList
		err := w.API.List(ctx, &policies, inLab)
		o.Policies = policies.Items
		return err
	})
	read("the cluster's DNS", func(ctx context.Context) error { return collectDNS(ctx, w, o) })
	read("the cohort", func(ctx context.Context) error { return collectLenders(ctx, w, facts) })
	read("the Jobs and Services", func(ctx context.Context) error { return collectTaken(ctx, w, facts) })
	read("the webhooks", func(ctx context.Context) error {
		if o.WebhooksUnread == nil {
			o.WebhooksUnread = admission.FindUnserved(ctx, w.API, o.Webhooks)
		}
		return nil // who may not read them can still be told what they refuse
	})
	read("the LocalQueue default", func(ctx context.Context) error {
		queue, err := cluster.Found(ctx, w.API, w.Pins.Namespace, defaultQueue, &kueuev1.LocalQueue{})
		o.HasDefaultQueue = queue != nil
		return err
	})
}

// collectQueueUsers finds who else is in the lab's ClusterQueue. Workloads of what goes
// before the first step do not count.
func collectQueueUsers(ctx context.Context, w *cluster.Cluster, facts *Facts) error {
	var (
		queues    kueuev1.LocalQueueList
		workloads kueuev1.WorkloadList
	)
	for _, list := range []client.ObjectList{&queues, &workloads} {
		if err := w.API.List(ctx, list); err != nil {
			return err
		}
	}
	leads := map[string]bool{}
	for _, queue := range queues.Items {
		leads[queue.Namespace+"/"+queue.Name] = string(queue.Spec.ClusterQueue) == w.Pins.ClusterQueue
	}
	for _, workload := range workloads.Items {
		view := snapshot.Workload{Live: &workload}
		if facts.going.Made(&workload) || !leads[workload.Namespace+"/"+string(workload.Spec.QueueName)] || view.IsNow(kueuev1.WorkloadFinished) {
			continue
		}
		name := workload.Namespace + "/" + workload.Name
		if view.IsNow(kueuev1.WorkloadQuotaReserved) {
			facts.Interference.HoldingQuota = append(facts.Interference.HoldingQuota, name)
		} else {
			facts.Interference.WaitingForQuota = append(facts.Interference.WaitingForQuota, name)
		}
	}
	return nil
}

func quotasOf(groups []kueuev1.ResourceGroup, resource string) []kueuev1.ResourceQuota {
	var quotas []kueuev1.ResourceQuota
	for _, group := range groups {
		for _, flavor := range group.Flavors {
			for _, quota := range flavor.Resources {
				if string(quota.Name) == resource {
					quotas = append(quotas, quota)
				}
			}
		}
	}
	return quotas
}

func collectDNS(ctx context.Context, w *cluster.Cluster, o *Interference) error {
	var services corev1.ServiceList
	if err := w.API.List(ctx, &services); err != nil {
		return err
	}
	for _, service := range services.Items {
		o.ServiceIPs = append(o.ServiceIPs, service.Spec.ClusterIPs...)
		o.HasDNS = o.HasDNS || service.Namespace == metav1.NamespaceSystem && service.Name == dnsService
	}
	var slices discoveryv1.EndpointSliceList
	err := w.API.List(ctx, &slices, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{discoveryv1.LabelServiceName: dnsService})
	for _, slice := range slices.Items {
		o.DNSReady += cluster.ReadyAddresses(slice)
	}
	return err
}
