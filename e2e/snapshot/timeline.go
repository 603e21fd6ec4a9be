package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// simultaneous puts the moments that an object came to at the same time on one line.
func (s ObjectHistory) simultaneous() []Transition {
	var moments []Transition
	for _, moment := range s.Transitions {
		last := len(moments) - 1
		if last < 0 || moments[last].At != moment.At {
			moments = append(moments, moment)
			continue
		}
		moments[last].State += ", " + moment.State
		if moment.Text != "" {
			moments[last].Text = strings.TrimPrefix(moments[last].Text+"; "+moment.Text, "; ")
		}
	}
	return moments
}

// Timeline lists every moment of the chosen objects in order of time: when,
// what, which state, and what the controller said with it.
func (h History) Timeline(chosen func(ObjectHistory) bool) [][]string {
	type dated struct {
		at  float64
		row []string
	}
	var moments []dated
	for _, sighting := range h.Objects {
		if !chosen(sighting) {
			continue
		}
		for _, moment := range sighting.simultaneous() {
			moments = append(moments, dated{moment.At, []string{
				fmt.Sprintf("+%.1fs", moment.At), sighting.Kind, sighting.Name, moment.State, moment.Text,
			}})
		}
	}
	slices.SortStableFunc(moments, func(a, b dated) int { return cmp.Compare(a.at, b.at) })
	var rows [][]string
	for _, moment := range moments {
		rows = append(rows, moment.row)
	}
	return rows
}
