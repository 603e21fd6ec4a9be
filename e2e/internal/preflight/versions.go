package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/fixtures"
)

// Versions are those that the lab runs.
type Versions struct {
	Kubernetes string `json:"kubernetes,omitempty"`
	JobSet     string `json:"jobset"`
	Kueue      string `json:"kueue"`
}

// Drift lists how these versions differ from those that the lab pins.
func (v Versions) Drift(pins fixtures.Pins) []string {
	var drift []string
	for _, part := range []struct{ name, wanted, found string }{{"JobSet", pins.JobSet, v.JobSet}, {"Kueue", pins.Kueue, v.Kueue}} {
		switch {
		case part.found == "":
			drift = append(drift, fmt.Sprintf("%s's version is not known, the lab pins %s", part.name, part.wanted))
		case strings.TrimPrefix(part.found, "v") != strings.TrimPrefix(part.wanted, "v"):
			drift = append(drift, fmt.Sprintf("%s is %s, the lab pins %s", part.name, part.found, part.wanted))
		}
	}
	return drift
}

// imagesOf lists every name of every image that a node reports to have.
func imagesOf(node corev1.Node) []string {
	var names []string
	for _, image := range node.Status.Images {
		names = append(names, image.Names...)
	}
	slices.Sort(names)
	return names
}
