package lab

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/fixtures"
)

// A learner in an air-gapped VM writes the name of an image that the VM has.
// LAB_IMAGE (--image) does the same to the learner's files, and nothing else in
// them is ever touched: the fixtures stay, byte for byte, what a learner writes
// where busybox can be had. It is the one edit that a machine forces upon the
// files. The lab text names no image, so a run with another one proves no less;
// the preflight and the closing block say that it was so.

// imageName is what may stand for an image: a reference, and nothing that means
// more to YAML than a plain word.
var imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/@-]*(:[A-Za-z0-9._-]+[A-Za-z0-9._/@:-]*)?$`)

// fixture reads one of the learner's files, with the image that the run was told
// to use in place of the lab's own.
func (w *World) fixture(name string) ([]byte, error) {
	content, err := fixtures.Read(name)
	if err != nil || w.Settings.Image == "" {
		return content, err
	}
	return withImage(content, shortName(w.Pins.Image), w.Settings.Image), nil
}

// withImage writes the wanted image wherever a file's container names the other.
func withImage(content []byte, other, wanted string) []byte {
	return bytes.ReplaceAll(content, []byte("image: "+other+"\n"), []byte("image: "+wanted+"\n"))
}

// image is what the steps run, fully qualified.
func (w *World) image() string {
	if w.Settings.Image != "" {
		return qualified(w.Settings.Image)
	}
	return w.Pins.Image
}

// dockerHub is what a container runtime puts in front of a name without a host.
const dockerHub = "docker.io/library/"

// shortName is how a learner writes the image: as short as it goes.
func shortName(image string) string { return strings.TrimPrefix(image, dockerHub) }

// qualified is the name under which a container runtime keeps an image.
func qualified(image string) string {
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

// imagesReported is how many images a kubelet reports at most, the biggest first,
// unless it is configured otherwise (nodeStatusMaxImages); of an image beyond
// them it says nothing.
const imagesReported = 50

func imageThere(site *Site, pins fixtures.Pins) Finding {
	finding := Finding{What: "image", Says: site.Image + " is on the node"}
	if site.Image != pins.Image {
		finding.Note = fmt.Sprintf("named for this run; the learner's files say %s", shortName(pins.Image))
	}
	reported := imagesReported
	if site.Kubelet != nil && site.Kubelet.Unread == nil {
		reported = site.Kubelet.ImagesReported
	}
	short := shortName(site.Image)
	for _, node := range site.Nodes {
		names := imagesOf(node)
		local := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "localhost/") && strings.HasSuffix(name, "/"+short)
		})
		switch {
		case slices.Contains(names, site.Image) || slices.Contains(names, short):
		case reported >= 0 && len(node.Status.Images) >= reported:
			finding.Says = site.Image + " is not among the images that the node reports"
			finding.Note = fmt.Sprintf("this node reports %d at most, so it may be there all the same", reported)
		case local >= 0:
			finding.Says = fmt.Sprintf("the node has %s, and a pod looks for %s", names[local], site.Image)
			finding.Mend = remake + fmt.Sprintf("ctr -n k8s.io images tag %s %s, on the node", names[local], site.Image)
		default:
			finding.Says, finding.Passes = site.Image+" is not on the node", true
			finding.Mend = remake + fmt.Sprintf("crictl pull %s, on the node, or --image (LAB_IMAGE=) names one that is there", site.Image)
		}
	}
	return finding
}
