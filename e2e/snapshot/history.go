package snapshot

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// History is what was ever seen in the namespace since the recorder started.
// One reading cannot show that something never happened; this can.
type History struct {
	Since   time.Time       `json:"since"`
	Objects []ObjectHistory `json:"sightings,omitempty"`

	// Gaps tells each time that the watch broke. Whatever began and ended
	// inside one may be missing above.
	Gaps []string `json:"gaps,omitempty"`
}

// An ObjectHistory is one object, and every state that it was seen in.
type ObjectHistory struct {
	Kind string    `json:"kind"`
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`

	// JobSet is the JobSet that the object is, or belongs to by its labels, or
	// (a Workload) is owned by. Owner is the controlling owner as Kind/Name.
	JobSet string `json:"jobSet,omitempty"`
	Owner  string `json:"owner,omitempty"`

	// Role, Index and Attempt are the labels replicatedjob-name,
	// job-completion-index and restart-attempt as they were at first sight.
	Role    string `json:"role,omitempty"`
	Index   string `json:"index,omitempty"`
	Attempt string `json:"attempt,omitempty"`

	// Address is the last pod IP that was seen.
	Address string `json:"address,omitempty"`

	// GPUs is how many a pod asks for, and how many a Workload does for all its pods;
	// Devices are those that a pod was seen to hold, with commas between them.
	GPUs    int64  `json:"gpus,omitempty"`
	Devices string `json:"devices,omitempty"`

	Transitions []Transition `json:"moments,omitempty"`
}

// A Transition is when an object was first seen in a state.
type Transition struct {
	// At is in seconds since History.Since.
	At float64 `json:"at"`
	// State is one word, the same in every version of the controllers; Text is
	// what the controller said with it.
	State string `json:"state"`
	Text  string `json:"text,omitempty"`
}

// The states that judgements ask a History for.
const (
	stateSeen        = "Seen"
	StateGone        = "Gone"
	stateTerminating = "Terminating"
	StateComplete    = "Complete"
	stateNoQuota     = "QuotaNotReserved"
)

// Reached reports whether the object was ever seen in the state.
func (s ObjectHistory) Reached(state string) bool {
	for _, moment := range s.Transitions {
		if moment.State == state {
			return true
		}
	}
	return false
}

// Texts returns what was said with a state, oldest first.
func (s ObjectHistory) Texts(state string) []string {
	var texts []string
	for _, moment := range s.Transitions {
		if moment.State == state && moment.Text != "" {
			texts = append(texts, moment.Text)
		}
	}
	return texts
}

// Ever returns every object of a kind that was ever seen of a JobSet.
func (h History) Ever(kind, jobSet string) []ObjectHistory {
	var found []ObjectHistory
	for _, sighting := range h.Objects {
		if sighting.Kind == kind && sighting.JobSet == jobSet {
			found = append(found, sighting)
		}
	}
	return found
}

// Of returns the sighting of one object by its UID.
func (h History) Of(uid types.UID) (ObjectHistory, bool) {
	for _, sighting := range h.Objects {
		if sighting.UID == uid {
			return sighting, true
		}
	}
	return ObjectHistory{}, false
}
