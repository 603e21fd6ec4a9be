package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/support"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"

	"gsb.test/jobset-e2e/provision/source"
)

// kindCluster is one kind cluster of one node, as e2e-framework drives it. It is
// kind's own library, not the kind program, and it never reads or writes any
// kubeconfig but the file it is given.
type kindCluster struct {
	name       string
	image      string
	kubeconfig string
	engine     engine
	// ownNetwork leaves out kind's default network plugin: the node image brings one.
	ownNetwork bool
	// mounts are files of this machine that the node sees.
	mounts []v1alpha4.Mount
	// owner is the mark by which the cluster is known to be ours, madeBy the same for people.
	owner, madeBy string
	say           func(string)
}

var _ support.E2EClusterProvider = &kindCluster{}

func (k *kindCluster) provider() *kindcluster.Provider {
	runtime := kindcluster.ProviderWithDocker()
	if k.engine.name == "podman" {
		runtime = kindcluster.ProviderWithPodman()
	}
	return kindcluster.NewProvider(runtime, kindcluster.ProviderWithLogger(kindSays{k.say}))
}

// Create makes the cluster and writes its kubeconfig. kind's Create knows no
// context: when ctx ends, what carries our mark is deleted under it, again and again
// until Create has given up, since it may not have made the node yet.
func (k *kindCluster) Create(ctx context.Context, _ ...string) (string, error) {
	if err := k.createNetwork(ctx); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- k.provider().Create(k.name,
			kindcluster.CreateWithV1Alpha4Config(k.config()),
			kindcluster.CreateWithNodeImage(k.image),
			kindcluster.CreateWithKubeconfigPath(k.kubeconfig),
			kindcluster.CreateWithRetain(true), // a node that would not come up is evidence; Destroy removes it
			kindcluster.CreateWithDisplayUsage(false),
			kindcluster.CreateWithDisplaySalutation(false),
		)
	}()
	select {
	case err := <-ended:
		if err != nil {
			return "", fmt.Errorf("kind could not create the cluster %s: %w", k.name, withOutput(err))
		}
		return k.kubeconfig, nil
	case <-ctx.Done():
	}
	k.say("interrupted: taking the node away")
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), removing)
	defer cancel()
	return "", errors.Join(ctx.Err(), k.takeAway(bounded, ended))
}

// createNetwork makes the network of the node, with our mark; kind takes one that is
// there as it is. The node is sealed and its cluster is of IPv4, so the network has
// none of the options by which kind cares for the way out: no IPv6, no MTU.
func (k *kindCluster) createNetwork(ctx context.Context) error {
	_, err := k.engine.run(ctx, "network", "create", "--driver", "bridge",
		"--label", ownerLabel+"="+k.owner, "--label", madeLabel+"="+k.madeBy, k.name)
	if err == nil {
		return nil
	}
	// Somebody may have made one of that name a moment ago.
	if found, failed := k.survey(ctx); failed == nil && found.foreign != nil {
		return found.foreign
	}
	return fmt.Errorf("making the network of %s: %w", k.name, err)
}

// config is what kind is told beside the image's name.
func (k *kindCluster) config() *v1alpha4.Cluster {
	config := &v1alpha4.Cluster{
		Networking: v1alpha4.Networking{DisableDefaultCNI: k.ownNetwork, APIServerAddress: "127.0.0.1"},
		Nodes:      []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, ExtraMounts: k.mounts}},
	}
	v1alpha4.SetDefaultsCluster(config)
	config.KubeadmConfigPatches = slices.Clone(withoutElection)
	if !canRaiseLimits() {
		// runc may not give a container a better oom score than containerd's own.
		config.ContainerdConfigPatches = []string{"[plugins.\"io.containerd.grpc.v1.cri\"]\n  restrict_oom_score_adj = true\n"}
	}
	if cgroupVersion() == 1 {
		config.KubeadmConfigPatches = append(config.KubeadmConfigPatches, "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nfailCgroupV1: false\n")
	}
	return config
}

// container is the name that kind gives to the container of its one node.
func (k *kindCluster) container() string { return k.name + "-control-plane" }

// exec runs a command in the node.
func (k *kindCluster) exec(ctx context.Context, command ...string) (string, error) {
	return k.engine.run(ctx, append([]string{"exec", k.container()}, command...)...)
}

// ExportLogs writes what kind collects of the node to a folder.
func (k *kindCluster) ExportLogs(_ context.Context, dest string) error {
	return k.provider().CollectLogs(k.name, dest)
}

// KubernetesRestConfig is nil before the cluster has been created.
func (k *kindCluster) KubernetesRestConfig() *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", k.kubeconfig)
	if err != nil {
		return nil
	}
	return config
}

// GenerateKubeconfig writes the kubeconfig of a running cluster again.
func (k *kindCluster) GenerateKubeconfig(...string) (string, error) {
	return k.kubeconfig, k.provider().ExportKubeConfig(k.name, k.kubeconfig, false)
}

// writeKubeconfig is GenerateKubeconfig, for no longer than one look may take.
func (k *kindCluster) writeKubeconfig(ctx context.Context) error {
	if _, err := within(ctx, lookTimeout, func() (string, error) { return k.GenerateKubeconfig() }); err != nil {
		return fmt.Errorf("reading the kubeconfig from the node of %s: %w", k.name, withOutput(err))
	}
	return nil
}

// WaitForControlPlane returns at once: the promises that follow each wait for what they need.
func (k *kindCluster) WaitForControlPlane(context.Context, klient.Client) error { return nil }

// CreateWithConfig refuses: the lab's configuration follows from the host, not from a file.
func (k *kindCluster) CreateWithConfig(context.Context, string) (string, error) {
	return "", errors.New("a lab takes no kind configuration file")
}

func (k *kindCluster) GetKubeconfig() string     { return k.kubeconfig }
func (k *kindCluster) GetKubectlContext() string { return "kind-" + k.name }

func (k *kindCluster) SetDefaults() support.E2EClusterProvider { return k }
func (k *kindCluster) WithName(name string) support.E2EClusterProvider {
	k.name = name
	return k
}

// The version is the image's, there is no kind program, and there are no options.
func (k *kindCluster) WithVersion(string) support.E2EClusterProvider              { return k }
func (k *kindCluster) WithPath(string) support.E2EClusterProvider                 { return k }
func (k *kindCluster) WithOpts(...support.ClusterOpts) support.E2EClusterProvider { return k }

// withOutput adds what the failed program printed, which kind keeps apart.
func withOutput(err error) error {
	var failed *kindexec.RunError
	if !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("%w\n%s", err, source.LastLines(string(failed.Output), 12))
}

// kindSays passes on what kind logs for people.
type kindSays struct{ say func(string) }

func (l kindSays) Warn(string)                      {}
func (l kindSays) Warnf(string, ...any)             {}
func (l kindSays) Error(message string)             { l.say(message) }
func (l kindSays) Errorf(format string, a ...any)   { l.say(fmt.Sprintf(format, a...)) }
func (l kindSays) V(level log.Level) log.InfoLogger { return kindInfo{l.say, level == 0} }

type kindInfo struct {
	say     func(string)
	enabled bool
}

func (l kindInfo) Enabled() bool { return l.enabled }
func (l kindInfo) Info(message string) {
	if l.enabled {
		l.say(strings.Trim(message, " •\n"))
	}
}
func (l kindInfo) Infof(format string, a ...any) { l.Info(fmt.Sprintf(format, a...)) }
