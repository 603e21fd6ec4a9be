package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// What this project makes in an engine carries the id of the cache folder that it
// was made from: a network in a label, a node in the place of a mount, since kind
// takes no labels for its containers. A path would not do as a mark: Docker Desktop
// rewrites it, and in two containers that share a daemon it can be the same.
const (
	OwnerLabel = "gsb-jobset.test/owner"
	MadeLabel  = "gsb-jobset.test/made-by"
	MarkFolder = "/etc/gsb-jobset.owner/"
	// clusterLabel is kind's own, on every node.
	ClusterLabel = "io.x-k8s.kind.cluster"
)

// container and network are what both engines print of one, as far as it is read here.
type Container struct {
	ID, Name string
	State    struct{ Running bool }
	Config   struct {
		Image  string
		Labels map[string]string
	}
	Mounts []struct{ Source, Destination string }
}

type Network struct {
	ID, Name string
	Labels   map[string]string
}

// inspect reads what an engine prints about things of one kind.
func Inspect[T any](ctx context.Context, e Engine, command, ids []string) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	said, err := e.Run(ctx, append(command, ids...)...)
	if err != nil {
		return nil, err
	}
	var things []T
	if err := json.Unmarshal([]byte(said), &things); err != nil {
		return nil, fmt.Errorf("reading what %s %s printed: %w", e.Name, strings.Join(command, " "), err)
	}
	return things, nil
}
