package provision

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
)

// What this project makes in an engine carries the id of the cache folder that it
// was made from: a network in a label, a node in the place of a mount, since kind
// takes no labels for its containers. A path would not do as a mark: Docker Desktop
// rewrites it, and in two containers that share a daemon it can be the same.
const (
	ownerLabel = "gsb-jobset.test/owner"
	madeLabel  = "gsb-jobset.test/made-by"
	markFolder = "/etc/gsb-jobset.owner/"
	// clusterLabel is kind's own, on every node.
	clusterLabel = "io.x-k8s.kind.cluster"
)

func (l *Lab) ownerFile() string { return filepath.Join(l.Folder, "owner") }

// owner is the id of this cache folder; empty if nothing was ever made from it.
func (l *Lab) owner() (string, error) {
	content, err := os.ReadFile(l.ownerFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading the mark of what is ours: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// haveOwner is the id of this cache folder, which gets one if it has none. Of two
// runs that give it one, both have that of the first.
func (l *Lab) haveOwner() (id string, err error) {
	if id, err = l.owner(); err != nil || id != "" {
		return id, err
	}
	if err := os.MkdirAll(l.Folder, 0o755); err != nil {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	whole, err := os.CreateTemp(l.Folder, "owner-")
	if err != nil {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	defer func() { _ = os.Remove(whole.Name()) }()
	_, err = whole.WriteString(rand.Text() + "\n")
	if err := errors.Join(err, whole.Close()); err != nil {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	if err := os.Link(whole.Name(), l.ownerFile()); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	if id, err = l.owner(); err == nil && id == "" {
		err = fmt.Errorf("%s is empty, so nothing can be marked as ours: rm %s", l.ownerFile(), l.ownerFile())
	}
	return id, err
}

// madeBy says for people whose a lab is.
func (l *Lab) madeBy() string {
	who := "somebody"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, _ := os.Hostname() // without it the folder says enough
	return fmt.Sprintf("%s on %s in %s", who, host, l.Checkout)
}

// cluster is this lab's cluster in an engine, and how to know it from another's.
func (l *Lab) cluster(e engine) (*kindCluster, error) {
	id, err := l.owner()
	if err != nil {
		return nil, err
	}
	return &kindCluster{name: l.Name, kubeconfig: l.Kubeconfig(), engine: e, owner: id, madeBy: l.madeBy(), say: func(string) {}}, nil
}

// refuseForeign is an error if something of the lab's name in the engine is not ours.
// It is asked before anything is built.
func (l *Lab) refuseForeign(ctx context.Context, e engine) error {
	if err := e.use(l.Name, l.podman()); err != nil {
		return err
	}
	k, err := l.cluster(e)
	if err != nil {
		return err
	}
	found, err := k.survey(ctx)
	if err != nil {
		return err
	}
	return found.refusal()
}

// writeMark writes the file that marks the node as ours, and returns its mount.
func (k *kindCluster) writeMark(folder string) (v1alpha4.Mount, error) {
	path := filepath.Join(folder, "owner")
	err := os.WriteFile(path, []byte(fmt.Sprintf("the lab %s, made by %s\n", k.name, k.madeBy)), 0o644)
	if err != nil {
		return v1alpha4.Mount{}, fmt.Errorf("writing the node's mark: %w", err)
	}
	return v1alpha4.Mount{HostPath: path, ContainerPath: markFolder + k.owner, Readonly: true}, nil
}

// container and network are what both engines print of one, as far as it is read here.
type container struct {
	ID, Name string
	State    struct{ Running bool }
	Config   struct {
		Image  string
		Labels map[string]string
	}
	Mounts []struct{ Source, Destination string }
}

type network struct {
	ID, Name string
	Labels   map[string]string
}

// survey is what stands in the engine under the name of a cluster: ours by the
// mark, and what else there is of that name.
type survey struct {
	containers []container
	networks   []network
	foreign    *foreign
}

// survey looks for everything that has the cluster's name.
func (k *kindCluster) survey(ctx context.Context) (survey, error) {
	var found survey
	others := &foreign{lab: k.name, engine: k.engine}
	containers, err := k.sameNameContainers(ctx)
	if err != nil {
		return found, fmt.Errorf("looking for the node of %s: %w", k.name, err)
	}
	for _, c := range containers {
		if k.owner != "" && slices.ContainsFunc(c.Mounts, func(m struct{ Source, Destination string }) bool { return m.Destination == markFolder+k.owner }) {
			found.containers = append(found.containers, c)
		} else {
			others.add("container", strings.TrimPrefix(c.Name, "/"), describeContainer(c), "rm --force --volumes ")
		}
	}
	networks, err := k.sameNameNetworks(ctx)
	if err != nil {
		return found, fmt.Errorf("looking for the network of %s: %w", k.name, err)
	}
	for _, n := range networks {
		if k.owner != "" && n.Labels[ownerLabel] == k.owner {
			found.networks = append(found.networks, n)
		} else {
			others.add("network", n.Name, describeNetwork(n), "network rm ")
		}
	}
	if len(others.things) > 0 {
		found.foreign = others
	}
	return found, nil
}

// refusal is an error if something of the cluster's name is not ours.
func (s survey) refusal() error {
	if s.foreign == nil {
		return nil
	}
	return s.foreign
}

func (k *kindCluster) sameNameContainers(ctx context.Context) ([]container, error) {
	var ids []string
	for _, filter := range []string{"name=^" + k.container() + "$", "label=" + clusterLabel + "=" + k.name} {
		said, err := k.engine.run(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter", filter)
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.Fields(said)...)
	}
	slices.Sort(ids)
	return inspect[container](ctx, k.engine, []string{"inspect", "--type", "container"}, slices.Compact(ids))
}

func (k *kindCluster) sameNameNetworks(ctx context.Context) ([]network, error) {
	said, err := k.engine.run(ctx, "network", "ls", "--no-trunc", "--format", "{{.ID}} {{.Name}}")
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(said) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == k.name {
			ids = append(ids, id)
		}
	}
	return inspect[network](ctx, k.engine, []string{"network", "inspect"}, ids)
}

// inspect reads what an engine prints about things of one kind.
func inspect[T any](ctx context.Context, e engine, command, ids []string) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	said, err := e.run(ctx, append(command, ids...)...)
	if err != nil {
		return nil, err
	}
	var things []T
	if err := json.Unmarshal([]byte(said), &things); err != nil {
		return nil, fmt.Errorf("reading what %s %s printed: %w", e.name, strings.Join(command, " "), err)
	}
	return things, nil
}
