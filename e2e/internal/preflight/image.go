package preflight

import (
	"fmt"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/fixtures"
)

// imagesReported is how many images a kubelet reports at most, the biggest first,
// unless it is configured otherwise (nodeStatusMaxImages); of an image beyond
// them it says nothing.
const imagesReported = 50

func imagePresent(facts *Facts, pins fixtures.Pins) Finding {
	finding := Finding{Check: "image", Message: facts.Image + " is on the node"}
	if facts.Image != pins.Image {
		finding.Note = fmt.Sprintf("named for this run; the learner's files say %s", cluster.ShortName(pins.Image))
	}
	reported := imagesReported
	if facts.Kubelet != nil && facts.Kubelet.Unread == nil {
		reported = facts.Kubelet.ImagesReported
	}
	short := cluster.ShortName(facts.Image)
	for _, node := range facts.Nodes {
		names := imagesOf(node)
		local := slices.IndexFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "localhost/") && strings.HasSuffix(name, "/"+short)
		})
		switch {
		case slices.Contains(names, facts.Image) || slices.Contains(names, short):
		case reported >= 0 && len(node.Status.Images) >= reported:
			finding.Code = ImageNotReported
			finding.Message = facts.Image + " is not among the images that the node reports"
			finding.Note = fmt.Sprintf("this node reports %d at most, so it may be there all the same", reported)
		case local >= 0:
			finding.Code = ImageNameMismatch
			finding.Message = fmt.Sprintf("the node has %s, and a pod looks for %s", names[local], facts.Image)
			finding.Fix = remakeFix + fmt.Sprintf("ctr -n k8s.io images tag %s %s, on the node", names[local], facts.Image)
		default:
			finding.Code, finding.Message, finding.Passes = ImageMissing, facts.Image+" is not on the node", true
			finding.Fix = remakeFix + fmt.Sprintf("crictl pull %s, on the node, or --image (LAB_IMAGE=) names one that is there", facts.Image)
		}
	}
	return finding
}
