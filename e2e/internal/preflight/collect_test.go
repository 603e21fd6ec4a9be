package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/fixtures"
)

// standing is a cluster with these objects, whose API server answers at an address.
func standing(t *testing.T, hooks interceptor.Funcs, objects ...client.Object) (*cluster.Cluster, *labtest.FakeAPI) {
	t.Helper()
	server := labtest.NewFakeAPI(t)
	config := &rest.Config{Host: server.URL}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster.Cluster{Pins: labtest.Pinned(t), Config: config, Clientset: clients, API: labtest.Client(t, hooks, objects...),
		Settings: settings.Settings{Run: "this", Kubeconfig: "/lab/kubeconfig", WorkDir: t.TempDir(), Reports: t.TempDir()}}, server
}

func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// labObjects are a lab in which somebody else works.
func labObjects(pins fixtures.Pins) []client.Object {
	manager := func(name, version string) client.Object {
		return &appsv1.Deployment{ObjectMeta: in(name+"-system", "manager"), Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "registry.k8s.io/" + name + ":" + version}}}}},
			Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}}}
	}
	oneGPU := corev1.PodSpec{NodeName: "lab", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}, Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}}
	queue := theLab(pins).ClusterQueue.DeepCopy()
	queue.Name = pins.ClusterQueue
	return []client.Object{
		&corev1.Node{ObjectMeta: labtest.Named("lab")}, &corev1.Namespace{ObjectMeta: labtest.Named("ml")},
		manager("jobset", pins.JobSet), manager("kueue", pins.Kueue),
		queue, &kueuev1.LocalQueue{ObjectMeta: in("ml", "lq"), Spec: kueuev1.LocalQueueSpec{ClusterQueue: "ml"}},
		&kueuev1.ResourceFlavor{ObjectMeta: labtest.Named("default-flavor")},
		&kueuev1.Workload{ObjectMeta: in("ml", "waiting"), Spec: kueuev1.WorkloadSpec{QueueName: "lq"}},
		&jobsetv1.JobSet{ObjectMeta: in("ml", "mine")},
		&corev1.Pod{ObjectMeta: in("ml", "greedy"), Spec: oneGPU, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		&corev1.Pod{ObjectMeta: in("ml", "ended"), Spec: oneGPU, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}},
		&corev1.LimitRange{ObjectMeta: in("ml", "limits")}, &corev1.LimitRange{ObjectMeta: in("default", "others")},
		&corev1.ResourceQuota{ObjectMeta: in("ml", "quota")}, &networkingv1.NetworkPolicy{ObjectMeta: in("ml", "policy")},
		&corev1.Service{ObjectMeta: in("kube-system", "kube-dns")},
		&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "dns", Labels: map[string]string{discoveryv1.LabelServiceName: "kube-dns"}},
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.9"}}, {Addresses: []string{"10.0.0.8"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(false)}}}},
		&corev1.ConfigMap{ObjectMeta: in("kube-system", fixtures.FaultJournal), Data: map[string]string{"fault": "quota-2"}},
	}
}

func TestFactsAreCollected(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	w, server := standing(t, interceptor.Funcs{}, labObjects(pins)...)
	f := Collect(t.Context(), w)
	if f.Unreachable != nil || len(f.Unread) > 0 {
		t.Fatalf("unreachable: %v, unread: %v", f.Unreachable, f.Unread)
	}
	if f.Server != server.URL || f.Kubeconfig != "/lab/kubeconfig" || f.Kubernetes != "v1.37.2" {
		t.Errorf("the API server: %q, %q, %q", f.Server, f.Kubeconfig, f.Kubernetes)
	}
	if len(f.Nodes) != 1 || f.Kubelet == nil || f.Kubelet.Unread == nil {
		t.Errorf("the node: %d, its kubelet, which this server knows nothing of: %+v", len(f.Nodes), f.Kubelet)
	}
	if f.JobSet.Deployment != "jobset-system/manager" || !f.JobSet.Available || f.Versions() != (Versions{"v1.37.2", pins.JobSet, pins.Kueue}) {
		t.Errorf("the controllers: %+v, %+v", f.JobSet, f.Versions())
	}
	if !f.HasNamespace || f.LocalQueue == nil || f.ClusterQueue == nil || f.Fault != "quota-2" {
		t.Errorf("namespace %t, LocalQueue %v, ClusterQueue %v, fault %q", f.HasNamespace, f.LocalQueue, f.ClusterQueue, f.Fault)
	}
	if !slices.Equal(f.UnmanagedJobSets, []string{"mine"}) || len(f.GPUHolders) != 1 || f.GPUHolders["ml/greedy"] != 1 {
		t.Errorf("others: JobSets %v, GPUs %v", f.UnmanagedJobSets, f.GPUHolders)
	}
	i := f.Interference
	if len(i.Flavors) != 1 || len(i.Limits) != 1 || len(i.Quotas) != 1 || len(i.Policies) != 1 || !i.HasDNS || i.DNSReady != 1 ||
		!slices.Equal(i.WaitingForQuota, []string{"ml/waiting"}) || len(i.HoldingQuota) > 0 {
		t.Errorf("interference: %+v", i)
	}
	if f.JobSetWebhook != nil || f.KueueWebhook != nil || i.Queued == nil {
		t.Errorf("the dry runs: %v, %v, %v", f.JobSetWebhook, f.KueueWebhook, i.Queued)
	}
	var jobSets jobsetv1.JobSetList
	if err := w.API.List(t.Context(), &jobSets); err != nil || len(jobSets.Items) != 1 {
		t.Errorf("collecting changes nothing, and there are %d JobSets (%v)", len(jobSets.Items), err)
	}
}

// What one list refuses is reported by name, and all other facts are there.
func TestAListThatIsRefusedLeavesTheOtherFacts(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "these"}, "", errors.New("not yours"))
	for part, refused := range map[string]client.ObjectList{
		"the nodes": &corev1.NodeList{}, "the Deployments": &appsv1.DeploymentList{}, "the JobSets and pods": &corev1.PodList{},
		"the ResourceFlavors": &kueuev1.ResourceFlavorList{}, "the Workloads of all namespaces": &kueuev1.WorkloadList{}, "the LimitRanges": &corev1.LimitRangeList{},
		"the ResourceQuotas": &corev1.ResourceQuotaList{}, "the NetworkPolicies": &networkingv1.NetworkPolicyList{}, "the cluster's DNS": &discoveryv1.EndpointSliceList{},
	} {
		for _, refusal := range []error{forbidden, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Gone"}}} {
			w, _ := standing(t, refuseList(refused, refusal), labObjects(pins)...)
			f := Collect(t.Context(), w)
			if f.Unreachable != nil || len(f.Unread) != 1 || !errors.Is(f.Unread[0], refusal) || !strings.HasPrefix(f.Unread[0].Error(), part+": ") {
				t.Errorf("%s: unreachable %v, unread %v", part, f.Unreachable, f.Unread)
			}
			if !f.HasNamespace || f.LocalQueue == nil || f.ClusterQueue == nil || f.Fault == "" {
				t.Errorf("%s: the other facts are not there: %+v", part, f)
			}
			findings := Judge(f, pins)
			code := FactUnreadable
			if meta.IsNoMatchError(refusal) {
				code = KindNotServed
			}
			at := slices.IndexFunc(findings, func(f Finding) bool { return f.Code == code })
			if at < 0 || findings[at].Passes != meta.IsNoMatchError(refusal) {
				t.Errorf("%s:\n%s", part, Table(findings))
			}
		}
	}
}

// refuseList refuses to list what is in lists of this type.
func refuseList(refused client.ObjectList, refusal error) interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if fmt.Sprintf("%T", list) == fmt.Sprintf("%T", refused) {
			return refusal
		}
		return c.List(ctx, list, options...)
	}}
}

func TestWhatIsNotThereIsNoError(t *testing.T) {
	t.Parallel()
	w, _ := standing(t, interceptor.Funcs{})
	f := Collect(t.Context(), w)
	if f.Unreachable != nil || len(f.Unread) > 0 {
		t.Fatalf("unreachable: %v, unread: %v", f.Unreachable, f.Unread)
	}
	if len(f.Nodes) > 0 || f.HasNamespace || f.LocalQueue != nil || f.ClusterQueue != nil || f.JobSet.Deployment != "" || f.Interference.HasDNS || f.Fault != "" {
		t.Errorf("an empty cluster has %+v", f)
	}
	wrong := map[string]bool{}
	for _, finding := range Judge(f, w.Pins) {
		wrong[string(finding.Code)] = finding.Wrong()
	}
	for _, code := range []string{"NodeNotFound", "KueueNotInstalled", "JobSetNotInstalled", "NamespaceNotFound", "ClusterQueueNotFound", "LocalQueueNotFound", "DevicesNotOffered"} {
		if !wrong[code] {
			t.Errorf("%s is not among %v", code, wrong)
		}
	}
}

func TestAnAPIServerThatIsGoneIsAskedNothingMore(t *testing.T) {
	t.Parallel()
	asked := 0
	w, server := standing(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		asked++
		return nil
	}})
	server.Close()
	f := Collect(t.Context(), w)
	if f.Unreachable == nil || asked > 0 {
		t.Errorf("unreachable: %v, and it was asked %d times", f.Unreachable, asked)
	}
	if findings := Judge(f, w.Pins); len(findings) != 1 || findings[0].Code != APIServerUnreachable {
		t.Errorf("%+v", findings)
	}
}

func TestAnAPIServerThatHangsIsAskedNothingMore(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	silence := &cluster.Silence{Question: "for the nodes", Cause: context.DeadlineExceeded}
	asked := 0
	w, _ := standing(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		asked++
		return silence
	}}, labObjects(pins)...)
	f := Collect(t.Context(), w)
	if !errors.Is(f.Unreachable, silence) || asked != 1 {
		t.Errorf("unreachable: %v, and it was asked %d times", f.Unreachable, asked)
	}
	if findings := Judge(f, pins); len(findings) != 1 || findings[0].Code != APIServerUnresponsive {
		t.Errorf("%+v", findings)
	}
}
