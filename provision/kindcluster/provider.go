package kindcluster

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/support"
)

// Provider is a Cluster as a provider of e2e-framework. These are the methods that
// the interface requires and a lab does not need.
type Provider struct{ *Cluster }

var _ support.E2EClusterProvider = Provider{}

// KubernetesRestConfig is nil before the cluster has been created.
func (p Provider) KubernetesRestConfig() *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		return nil
	}
	return config
}

// WaitForControlPlane returns at once: each later step waits for what it needs.
func (p Provider) WaitForControlPlane(context.Context, klient.Client) error { return nil }

// CreateWithConfig fails: the configuration follows from the host, not from a file.
func (p Provider) CreateWithConfig(context.Context, string) (string, error) {
	return "", errors.New("a lab takes no kind configuration file")
}

func (p Provider) GetKubeconfig() string     { return p.Kubeconfig }
func (p Provider) GetKubectlContext() string { return "kind-" + p.Name }

func (p Provider) SetDefaults() support.E2EClusterProvider { return p }
func (p Provider) WithName(name string) support.E2EClusterProvider {
	p.Name = name
	return p
}

// WithVersion changes nothing: the version is the image's. There is no kind program
// and no option either.
func (p Provider) WithVersion(string) support.E2EClusterProvider              { return p }
func (p Provider) WithPath(string) support.E2EClusterProvider                 { return p }
func (p Provider) WithOpts(...support.ClusterOpts) support.E2EClusterProvider { return p }
