package kindcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"gsb.test/jobset-e2e/provision/engine"
)

// WriteMark writes the file that marks the node as ours and returns its mount.
func (k *Cluster) WriteMark(folder string) (v1alpha4.Mount, error) {
	path := filepath.Join(folder, "owner")
	err := os.WriteFile(path, []byte(fmt.Sprintf("the lab %s, made by %s\n", k.Name, k.MadeBy)), 0o644)
	if err != nil {
		return v1alpha4.Mount{}, fmt.Errorf("writing the node's mark: %w", err)
	}
	return v1alpha4.Mount{HostPath: path, ContainerPath: engine.MarkFolder + k.Owner, Readonly: true}, nil
}

// Survey lists the objects of a cluster's name in the engine: ours by the mark, and
// others.
type Survey struct {
	Containers []engine.Container
	networks   []engine.Network
	Foreign    *Foreign
}

// Survey finds everything that has the cluster's name.
func (k *Cluster) Survey(ctx context.Context) (Survey, error) {
	var found Survey
	others := &Foreign{lab: k.Name, engine: k.Engine}
	containers, err := sameNameContainers(ctx, k)
	if err != nil {
		return found, fmt.Errorf("looking for the node of %s: %w", k.Name, err)
	}
	for _, c := range containers {
		if k.Owner != "" && slices.ContainsFunc(c.Mounts, func(m struct{ Source, Destination string }) bool { return m.Destination == engine.MarkFolder+k.Owner }) {
			found.Containers = append(found.Containers, c)
		} else {
			others.add("container", strings.TrimPrefix(c.Name, "/"), describeContainer(c), "rm --force --volumes ")
		}
	}
	networks, err := sameNameNetworks(ctx, k)
	if err != nil {
		return found, fmt.Errorf("looking for the network of %s: %w", k.Name, err)
	}
	for _, n := range networks {
		if k.Owner != "" && n.Labels[engine.OwnerLabel] == k.Owner {
			found.networks = append(found.networks, n)
		} else {
			others.add("network", n.Name, describeNetwork(n), "network rm ")
		}
	}
	if len(others.things) > 0 {
		found.Foreign = others
	}
	return found, nil
}

// Refusal is an error if an object of the cluster's name is not ours.
func (s Survey) Refusal() error {
	if s.Foreign == nil {
		return nil
	}
	return s.Foreign
}

func sameNameContainers(ctx context.Context, k *Cluster) ([]engine.Container, error) {
	var ids []string
	for _, filter := range []string{"name=^" + k.container() + "$", "label=" + engine.ClusterLabel + "=" + k.Name} {
		output, err := k.Engine.Run(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter", filter)
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.Fields(output)...)
	}
	slices.Sort(ids)
	return engine.Inspect[engine.Container](ctx, k.Engine, []string{"inspect", "--type", "container"}, slices.Compact(ids))
}

func sameNameNetworks(ctx context.Context, k *Cluster) ([]engine.Network, error) {
	output, err := k.Engine.Run(ctx, "network", "ls", "--no-trunc", "--format", "{{.ID}} {{.Name}}")
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(output) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == k.Name {
			ids = append(ids, id)
		}
	}
	return engine.Inspect[engine.Network](ctx, k.Engine, []string{"network", "inspect"}, ids)
}
