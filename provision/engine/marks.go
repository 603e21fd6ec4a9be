package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Everything this project creates in an engine carries the id of the cache folder it
// was made from: a network in a label, a node in the path of a mount, because kind
// sets no labels on its containers. A folder's path is no mark: Docker Desktop
// rewrites it, and two containers that share a daemon can have the same.
const (
	OwnerLabel = "gsb-jobset.test/owner"
	MadeLabel  = "gsb-jobset.test/made-by"
	MarkFolder = "/etc/gsb-jobset.owner/"
	// ClusterLabel is kind's own, on every node.
	ClusterLabel = "io.x-k8s.kind.cluster"
)

// Container and Network are the read part of the engines' description of one.
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

// Inspect reads what an engine prints about objects of one kind.
func Inspect[T any](ctx context.Context, e Engine, command, ids []string) ([]T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	output, err := e.Run(ctx, append(command, ids...)...)
	if err != nil {
		return nil, err
	}
	var things []T
	if err := json.Unmarshal([]byte(output), &things); err != nil {
		return nil, fmt.Errorf("reading what %s %s printed: %w", e.Name, strings.Join(command, " "), err)
	}
	return things, nil
}
