package report

import (
	"fmt"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// LocationsOf says what of the run lies where, the lab included.
func LocationsOf(w *cluster.Cluster) [][]string {
	var rows [][]string
	if w.Settings.Image != "" {
		rows = append(rows, []string{"image", fmt.Sprintf("%s, in the learner's files where they say %s", w.Settings.Image, cluster.ShortName(w.Pins.Image))})
	}
	if w.LeftInLab != "" {
		rows = append(rows, []string{"left in the lab", w.LeftInLab})
	}
	return append(rows, Locations(w.Settings)...)
}
