package cluster

import (
	"bytes"
	"strings"

	"gsb.test/jobset-e2e/fixtures"
)

// Fixture reads one of the learner's files, with the image that the run was given
// to use in place of the lab's own.
func (w *Cluster) Fixture(name string) ([]byte, error) {
	content, err := fixtures.Read(name)
	if err != nil || w.Settings.Image == "" {
		return content, err
	}
	return WithImage(content, ShortName(w.Pins.Image), w.Settings.Image), nil
}

// WithImage writes the wanted image wherever a file's container names the other.
func WithImage(content []byte, other, wanted string) []byte {
	return bytes.ReplaceAll(content, []byte("image: "+other+"\n"), []byte("image: "+wanted+"\n"))
}

// Image is what the steps run, fully qualified.
func (w *Cluster) Image() string {
	if w.Settings.Image != "" {
		return Qualified(w.Settings.Image)
	}
	return w.Pins.Image
}

// dockerHub is what a container runtime puts in front of a name without a host.
const dockerHub = "docker.io/library/"

// ShortName is how a learner writes the image: as short as it goes.
func ShortName(image string) string { return strings.TrimPrefix(image, dockerHub) }

// Qualified is the name under which a container runtime keeps an image.
func Qualified(image string) string {
	host, _, inFolder := strings.Cut(image, "/")
	switch {
	case !inFolder:
		image = dockerHub + image
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		image = "docker.io/" + image
	}
	if _, tag := splitImage(image); tag == "" && !strings.Contains(image, "@") {
		image += ":latest"
	}
	return image
}
