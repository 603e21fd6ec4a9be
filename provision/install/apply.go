// Package install installs on a cluster what makes it a lab: the device plugin,
// JobSet, Kueue and the queues. Each step returns when its part works, and can be
// repeated.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1alpha2 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/manifest"
	"gsb.test/jobset-e2e/provision/poll"
)

const (
	// fieldManager owns what provision applies.
	fieldManager = "gsb-jobset-provision"
	// applyAtOnce is how many objects of one rank are sent in parallel.
	applyAtOnce = 8
)

// Cluster is the lab's cluster: a client, the pins, and the node.
type Cluster struct {
	client.Client
	Rest *rest.Config
	// kubeconfig is the file of the connection; fixes name it.
	kubeconfig string
	pins       fixtures.Pins
	// Node runs a command in the node's container and returns its combined output.
	Node func(ctx context.Context, command ...string) (string, error)
}

// Connect makes a Cluster from a kubeconfig file. It sends nothing: the first step
// that needs the cluster reports one that is gone.
func Connect(kubeconfig string, pins fixtures.Pins) (*Cluster, error) {
	if kubeconfig == "" {
		// client-go would fall back to the cluster that this program runs in.
		return nil, errors.New("connecting to the lab: no kubeconfig file was named")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("connecting to the lab: reading kubeconfig %s: %w", kubeconfig, err)
	}
	// client-go's limits protect a shared API server; this one serves us alone.
	config.QPS, config.Burst = -1, -1
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, jobsetv1alpha2.AddToScheme, kueuev1beta2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("connecting to the lab: registering API types: %w", err)
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to the lab by kubeconfig %s: %w", kubeconfig, err)
	}
	return &Cluster{Client: c, Rest: config, kubeconfig: kubeconfig, pins: pins}, nil
}

// rank orders objects: those of a lower rank exist before the next are sent.
type rank int

const (
	rankNamespace rank = iota
	rankDefinition
	rankPlain
	// rankWebhook objects make the API server call a controller.
	rankWebhook
	// rankWorkload objects start containers, so they come last.
	rankWorkload
)

func rankOf(object *unstructured.Unstructured) rank {
	switch object.GetKind() {
	case "Namespace":
		return rankNamespace
	case "CustomResourceDefinition":
		return rankDefinition
	case "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return rankWebhook
	case "Deployment", "DaemonSet", "StatefulSet":
		return rankWorkload
	}
	return rankPlain
}

// ranked is the objects of a manifest by rank, in the manifest's order.
type ranked map[rank][]*unstructured.Unstructured

// readManifest reads a file of YAML documents.
func readManifest(path string) (ranked, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	objects, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	return objects, nil
}

// parse reads a manifest, and ranks its objects.
func parse(content []byte) (ranked, error) {
	objects, err := manifest.Parse(content)
	if err != nil {
		return nil, err
	}
	found := ranked{}
	for _, object := range objects {
		found[rankOf(object)] = append(found[rankOf(object)], object)
	}
	return found, nil
}

// apply sends the objects of the given ranks by server-side apply, one rank after the
// other. It returns when the API server has accepted all of them and serves every kind
// that they define. It can be repeated.
func (c *Cluster) apply(ctx context.Context, objects ranked, ranks ...rank) error {
	for _, rank := range ranks {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(applyAtOnce)
		for _, object := range objects[rank] {
			group.Go(func() error { return c.applyOne(ctx, object) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) applyOne(ctx context.Context, object *unstructured.Unstructured) error {
	name := object.GetName()
	if namespace := object.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	err := poll.For(ctx, fmt.Sprintf("the API server to take %s %s", object.GetKind(), name), func(ctx context.Context) error {
		// Apply writes the server's answer into the object, which must not be sent again.
		wanted := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		return c.Apply(ctx, wanted, client.FieldOwner(fieldManager), client.ForceOwnership)
	})
	if err != nil || rankOf(object) != rankDefinition {
		return err
	}
	group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
	return poll.For(ctx, fmt.Sprintf("the API server to serve %s.%s", kind, group), func(context.Context) error {
		// The mapper asks the API server again for a kind that it does not know.
		_, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: kind})
		return err
	})
}
