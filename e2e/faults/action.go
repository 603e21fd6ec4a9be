package faults

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// An Action is one thing that is done to the lab; exactly one of its fields is set.
type Action struct {
	// Apply applies an object, as kubectl apply does.
	Apply *unstructured.Unstructured `json:"apply,omitempty"`
	Patch *Patch                     `json:"patch,omitempty"`
	// Delete deletes an object and waits until it is gone.
	Delete *Object `json:"delete,omitempty"`
	Scale  *Scale  `json:"scale,omitempty"`
	Node   *Node   `json:"node,omitempty"`
	Await  *Await  `json:"await,omitempty"`
}

// An Object is one object of the cluster. Without a name it is the only one of
// its kind, as the lab's node is.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
}

// A Patch changes an object: by a JSON merge patch (RFC 7386), or by a list of
// JSON patch operations (RFC 6902), of which a test may guard the others.
type Patch struct {
	Object `json:",inline"`
	Merge  map[string]any `json:"merge,omitempty"`
	JSON   []any          `json:"json,omitempty"`
}

// Scale sets the replicas of a Deployment, and waits until its pods are as many.
type Scale struct {
	Object   `json:",inline"`
	Replicas *int32 `json:"replicas"`
}

// A Node action runs a shell command on the lab's node, as root and outside of
// any container, apart from whoever started it: it may restart kubelet or containerd.
type Node struct {
	Do string `json:"do"`
	// Undo is the command that takes it back. It must also end well where Do came
	// only half its way, or where Undo has run before.
	Undo string `json:"undo,omitempty"`
	// Prove ends well if, and only if, the node is as it was before Do.
	Prove string `json:"prove,omitempty"`
}

// object names what an action changes that is not the node.
func (a Action) object() Object {
	switch {
	case a.Apply != nil:
		return Object{APIVersion: a.Apply.GetAPIVersion(), Kind: a.Apply.GetKind(), Namespace: a.Apply.GetNamespace(), Name: a.Apply.GetName()}
	case a.Patch != nil:
		return a.Patch.Object
	case a.Scale != nil:
		return a.Scale.Object
	case a.Delete != nil:
		return *a.Delete
	}
	return Object{}
}

// Await waits until a part of an object reads so. It is for what a controller or
// the kubelet must first notice, and for what a step must first have come to.
type Await struct {
	Object `json:",inline"`
	// Path is a JSONPath template, as kubectl get -o jsonpath takes it.
	Path string `json:"path"`
	// Is is all that it reads, Has a part of it, Lacks what is no part of it. One
	// is given.
	Is    *string `json:"is,omitempty"`
	Has   string  `json:"has,omitempty"`
	Lacks string  `json:"lacks,omitempty"`
}

// check says what is wrong with an action as it is written.
func (a Action) check() string {
	set := 0
	for _, there := range []bool{a.Apply != nil, a.Patch != nil, a.Delete != nil, a.Scale != nil, a.Node != nil, a.Await != nil} {
		if there {
			set++
		}
	}
	if set != 1 {
		return fmt.Sprintf("has %d actions; it has one of apply, patch, delete, scale, node, await", set)
	}
	switch {
	case a.object().Kind == "Secret":
		return "changes a Secret, which the journal would show to whoever may read ConfigMaps"
	case a.Apply != nil && (a.Apply.GetKind() == "" || a.Apply.GetName() == ""):
		return "applies an object without a kind or a name"
	case a.Patch != nil:
		if (len(a.Patch.Merge) > 0) == (len(a.Patch.JSON) > 0) {
			return "patches by merge or by json, by one of them"
		}
		return a.Patch.check()
	case a.Delete != nil:
		return a.Delete.check()
	case a.Scale != nil && a.Scale.Replicas == nil:
		return "scales to no number of replicas"
	case a.Scale != nil:
		return a.Scale.check()
	case a.Node != nil && a.Node.Do == "":
		return "does nothing on the node"
	case a.Node != nil && a.Node.Prove != "" && a.Node.Undo == "":
		return "proves on the node what it does not undo"
	case a.Await != nil:
		given := 0
		for _, there := range []bool{a.Await.Is != nil, a.Await.Has != "", a.Await.Lacks != ""} {
			if there {
				given++
			}
		}
		if given != 1 || a.Await.Path == "" {
			return "awaits a path and one of is, has, lacks"
		}
		return a.Await.check()
	}
	return ""
}

func (o Object) check() string {
	if o.APIVersion == "" || o.Kind == "" {
		return "names an object without apiVersion or kind"
	}
	return ""
}

// String is how an object is called in a sentence.
func (o Object) String() string {
	name := o.Kind
	if o.Name != "" {
		name += " " + o.Name
	}
	if o.Namespace != "" {
		name += " in " + o.Namespace
	}
	return name
}

// bytes is what is sent to the API server.
func (p Patch) bytes() ([]byte, error) {
	if p.JSON != nil {
		return json.Marshal(p.JSON)
	}
	return json.Marshal(p.Merge)
}
