// Package images says what a lab is made of, whichever way it was come by:
// built from source (package source) or, later, pulled from registries.
package images

// Set is one image set: everything a lab needs to come up, on this machine's
// disk before the node is started, so that no later step waits for a network.
type Set struct {
	// Origin is how the set was come by, in the words of the list and the verdict: "source build".
	Origin string
	// Node is the reference that the container engine knows the node image by.
	Node string
	// Archive is the file the node image is loaded from when the engine lacks it.
	Archive string
	// Kubernetes, JobSet and Kueue are the versions inside, with a leading v.
	Kubernetes, JobSet, Kueue string
	// JobSetManifest, KueueManifest and GPUManifest are files of YAML documents whose
	// images are in the node already.
	JobSetManifest, KueueManifest, GPUManifest string
	// Sealed tells that nothing in the set need leave the node, so the node may be
	// forbidden to open any connection to the outside.
	Sealed bool
}
