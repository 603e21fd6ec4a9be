// Package kindcluster creates, examines and destroys the kind cluster of a lab.
package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/poll"
	"gsb.test/jobset-e2e/provision/source"
)

// Cluster is one kind cluster of one node. It uses kind's library, not the kind
// program, and reads and writes no kubeconfig but the file it is given.
type Cluster struct {
	Name       string
	Image      string
	Kubeconfig string
	Engine     engine.Engine
	// OwnNetwork leaves out kind's default network plugin: the node image contains one.
	OwnNetwork bool
	// Mounts are files of this machine that the node sees.
	Mounts []v1alpha4.Mount
	// Owner is the mark that identifies the cluster as ours; MadeBy is the same for
	// people.
	Owner, MadeBy string
	Say           func(string)
}

func (k *Cluster) provider() *kindcluster.Provider {
	runtime := kindcluster.ProviderWithDocker()
	if k.Engine.Name == "podman" {
		runtime = kindcluster.ProviderWithPodman()
	}
	return kindcluster.NewProvider(runtime, kindcluster.ProviderWithLogger(kindLogger{k.Say}))
}

// Create creates the cluster and writes its kubeconfig. kind's Create takes no
// context: when ctx ends, everything with our mark is deleted repeatedly until kind
// has given up, because kind may create the node late. The deletion is bounded by
// RemoveTimeout.
func (k *Cluster) Create(ctx context.Context, _ ...string) (string, error) {
	if err := k.createNetwork(ctx); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- k.provider().Create(k.Name,
			kindcluster.CreateWithV1Alpha4Config(k.config()),
			kindcluster.CreateWithNodeImage(k.Image),
			kindcluster.CreateWithKubeconfigPath(k.Kubeconfig),
			kindcluster.CreateWithRetain(true), // a node that would not come up is evidence; Destroy removes it
			kindcluster.CreateWithDisplayUsage(false),
			kindcluster.CreateWithDisplaySalutation(false),
		)
	}()
	select {
	case err := <-ended:
		if err != nil {
			return "", fmt.Errorf("kind could not create the cluster %s: %w", k.Name, withOutput(err))
		}
		return k.Kubeconfig, nil
	case <-ctx.Done():
	}
	k.Say("interrupted: removing the node")
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), RemoveTimeout)
	defer cancel()
	return "", errors.Join(ctx.Err(), k.destroyUntilEnded(bounded, ended))
}

// createNetwork creates the node's network with our mark; kind uses an existing one.
// The node opens no connection to the outside and its cluster is IPv4, so kind's
// options for IPv6 and the MTU are left out.
func (k *Cluster) createNetwork(ctx context.Context) error {
	_, err := k.Engine.Run(ctx, "network", "create", "--driver", "bridge",
		"--label", engine.OwnerLabel+"="+k.Owner, "--label", engine.MadeLabel+"="+k.MadeBy, k.Name)
	if err == nil {
		return nil
	}
	// One of that name may have been created a moment ago.
	if found, failed := k.Survey(ctx); failed == nil && found.Foreign != nil {
		return found.Foreign
	}
	return fmt.Errorf("making the network of %s: %w", k.Name, err)
}

// config is kind's configuration, the image aside.
func (k *Cluster) config() *v1alpha4.Cluster {
	config := &v1alpha4.Cluster{
		Networking: v1alpha4.Networking{DisableDefaultCNI: k.OwnNetwork, APIServerAddress: "127.0.0.1"},
		Nodes:      []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, ExtraMounts: k.Mounts}},
	}
	v1alpha4.SetDefaultsCluster(config)
	config.KubeadmConfigPatches = slices.Clone(kubeadmPatches)
	if !engine.CanRaiseLimits() {
		// runc may not give a container a better oom score than containerd's own.
		config.ContainerdConfigPatches = []string{"[plugins.\"io.containerd.grpc.v1.cri\"]\n  restrict_oom_score_adj = true\n"}
	}
	if engine.CgroupVersion() == 1 {
		config.KubeadmConfigPatches = append(config.KubeadmConfigPatches, "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nfailCgroupV1: false\n")
	}
	return config
}

// container is the name that kind gives to the container of its one node.
func (k *Cluster) container() string { return k.Name + "-control-plane" }

// Exec runs a command in the node.
func (k *Cluster) Exec(ctx context.Context, command ...string) (string, error) {
	return k.Engine.Run(ctx, append([]string{"exec", k.container()}, command...)...)
}

// ExportLogs writes the node's logs to a folder.
func (k *Cluster) ExportLogs(_ context.Context, dest string) error {
	return k.provider().CollectLogs(k.Name, dest)
}

// GenerateKubeconfig writes the kubeconfig of a running cluster again.
func (k *Cluster) GenerateKubeconfig(...string) (string, error) {
	return k.Kubeconfig, k.provider().ExportKubeConfig(k.Name, k.Kubeconfig, false)
}

// WriteKubeconfig is GenerateKubeconfig with the time limit of a single look.
func (k *Cluster) WriteKubeconfig(ctx context.Context) error {
	if _, err := poll.Within(ctx, poll.LookTimeout, func() (string, error) { return k.GenerateKubeconfig() }); err != nil {
		return fmt.Errorf("reading the kubeconfig from the node of %s: %w", k.Name, withOutput(err))
	}
	return nil
}

// withOutput adds what the failed program printed, which kind keeps apart.
func withOutput(err error) error {
	var failed *kindexec.RunError
	if !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("%w\n%s", err, source.LastLines(string(failed.Output), 12))
}

// kindLogger forwards what kind logs for users.
type kindLogger struct{ say func(string) }

func (l kindLogger) Warn(string)                      {}
func (l kindLogger) Warnf(string, ...any)             {}
func (l kindLogger) Error(message string)             { l.say(message) }
func (l kindLogger) Errorf(format string, a ...any)   { l.say(fmt.Sprintf(format, a...)) }
func (l kindLogger) V(level log.Level) log.InfoLogger { return kindInfoLogger{l.say, level == 0} }

type kindInfoLogger struct {
	say     func(string)
	enabled bool
}

func (l kindInfoLogger) Enabled() bool { return l.enabled }
func (l kindInfoLogger) Info(message string) {
	if l.enabled {
		l.say(strings.Trim(message, " •\n"))
	}
}
func (l kindInfoLogger) Infof(format string, a ...any) { l.Info(fmt.Sprintf(format, a...)) }

// Restart restarts the node's container, as a reboot of the lab's machine would.
func (k *Cluster) Restart(ctx context.Context) error {
	_, err := k.Engine.Run(ctx, "restart", "--time", "1", k.container())
	return err
}

// ProcessorTime is what everything in the node has used since it was started.
func (k *Cluster) ProcessorTime(ctx context.Context) (time.Duration, error) {
	output, err := k.Exec(ctx, "sh", "-c", "awk '/^usage_usec / { print $2 \"us\" }' /sys/fs/cgroup/cpu.stat 2>/dev/null | grep . || echo \"$(cat /sys/fs/cgroup/cpuacct/cpuacct.usage)ns\"")
	if err != nil {
		return 0, fmt.Errorf("reading the node's processor time: %w", err)
	}
	return time.ParseDuration(output)
}
