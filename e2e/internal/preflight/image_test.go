package preflight

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/fixtures"
)

// Every image in the learner's files is the one that LAB_IMAGE stands in for, or
// a run with LAB_IMAGE would still ask for the other somewhere.
func TestAnImageIsNamedInEveryLearnersFileAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	anyImage := regexp.MustCompile(`(?m)^\s*image:\s*(.*)$`)
	for _, name := range fixtures.Names() {
		if !strings.HasPrefix(name, "steps/") && !strings.HasPrefix(name, "mistakes/") {
			continue
		}
		content, err := fixtures.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		named := cluster.WithImage(content, cluster.ShortName(pins.Image), "registry.local:5000/tools/busybox:1")
		for _, image := range anyImage.FindAllSubmatch(named, -1) {
			if string(image[1]) != "registry.local:5000/tools/busybox:1" {
				t.Errorf("%s still names %s", name, image[1])
			}
		}
		if back := cluster.WithImage(named, "registry.local:5000/tools/busybox:1", cluster.ShortName(pins.Image)); !bytes.Equal(back, content) || bytes.Equal(named, content) {
			t.Errorf("more than the image changed in %s, or nothing did", name)
		}
	}
}

func TestAnImageIsKeptUnderItsFullName(t *testing.T) {
	t.Parallel()
	for image, full := range map[string]string{
		"busybox:1.36":                        "docker.io/library/busybox:1.36",
		"busybox":                             "docker.io/library/busybox:latest",
		"tools/busybox:1":                     "docker.io/tools/busybox:1",
		"localhost/busybox:1":                 "localhost/busybox:1",
		"registry.local:5000/busybox":         "registry.local:5000/busybox:latest",
		"registry.k8s.io/e2e/box@sha256:0123": "registry.k8s.io/e2e/box@sha256:0123",
	} {
		if got := cluster.Qualified(image); got != full {
			t.Errorf("%s is kept as %s, not %s", image, got, full)
		}
		if !settings.ImageName.MatchString(image) {
			t.Errorf("%s is no name", image)
		}
	}
	for _, none := range []string{"a b", "busybox:1\n  hostNetwork: true", "busybox: 1", "'busybox'", "busybox #1", "-x", "{}", ""} {
		if settings.ImageName.MatchString(none) {
			t.Errorf("%q is taken for a name", none)
		}
	}
}

func TestTheImageThatIsNamedIsLookedFor(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.Image = "registry.local:5000/tools/busybox:1"
	if finding := imagePresent(facts, pins); !finding.Wrong() || !strings.Contains(finding.Message, "registry.local:5000/tools/busybox:1 is not on the node") {
		t.Errorf("it is not there: %+v", finding)
	}
	facts.Nodes[0].Status.Images = []corev1.ContainerImage{{Names: []string{"registry.local:5000/tools/busybox:1"}}}
	if finding := imagePresent(facts, pins); finding.Wrong() || !strings.Contains(finding.Note, "the learner's files say busybox:1.35.0") {
		t.Errorf("it is there: %+v", finding)
	}
	facts.Kubelet.ImagesReported = 1
	facts.Nodes[0].Status.Images = make([]corev1.ContainerImage, 1)
	if finding := imagePresent(facts, pins); finding.Wrong() || !strings.Contains(finding.Note, "reports 1 at most") {
		t.Errorf("a kubelet that reports one image: %+v", finding)
	}
	facts.Kubelet.ImagesReported = -1
	facts.Nodes[0].Status.Images = make([]corev1.ContainerImage, imagesReported+1)
	if finding := imagePresent(facts, pins); !finding.Wrong() {
		t.Errorf("a kubelet that reports all images: %+v", finding)
	}
}
