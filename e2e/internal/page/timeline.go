package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Timeline is what happened in a run: what it did, and what the lab's objects went
// through meanwhile. All times are seconds since Start.
type Timeline struct {
	Start time.Time
	End   float64
	// Lab is the API server's URL, Host the machine that the run was on.
	Lab, Host string
	// Quota is how many GPUs the queue may hand out, Devices how many the node has.
	Quota, Devices int64

	Spans []Span
	Marks []Mark
	Lanes []Lane
	// Gaps are the times at which the watch broke.
	Gaps []Mark
}

// A Span is a step or a mistake of the run.
type Span struct {
	Label    string // of its specs
	From, To float64
	State    string
}

// A Mark is one moment: what the learner did, or an event or a change of an object.
type Mark struct {
	At    float64
	What  string
	Text  string
	Label string // of the step or mistake that a command belongs to
	// Warning marks an event that Kubernetes warns with.
	Warning bool
}

// A Lane is one object, or all objects that took the same place one after the other,
// such as the pods of one rank.
type Lane struct {
	// Group tells the JobSets of one name apart that different mistakes and steps made.
	Group  int
	JobSet string
	Kind   string
	Name   string
	Bars   []Bar
	Marks  []Mark
}

// A Bar is a state of an object for a time.
type Bar struct {
	From, To float64
	// Class is the kind of state by which it is drawn; State is its own name, and Text
	// what the controller said with it.
	Class, State, Text string
	Object             string // its name in full
	Attempt            string
	GPUs               int64
	Devices            string
}

// newTimeline puts the histories of a run on one line of time.
func newTimeline(start time.Time, end float64, histories []snapshot.History, events [][]snapshot.Event) Timeline {
	t := Timeline{Start: start, End: end}
	placed := map[types.UID]place{}
	for i, history := range histories {
		// A history that was followed by another one ends there.
		until := end
		if i+1 < len(histories) {
			until = histories[i+1].Since.Sub(start).Seconds()
		}
		offset := history.Since.Sub(start).Seconds()
		for _, object := range history.Objects {
			t.add(i, object, offset, until, placed)
		}
		for _, gap := range history.Gaps {
			t.Gaps = append(t.Gaps, Mark{At: offset, What: gap})
		}
		if i < len(events) {
			t.addEvents(events[i], offset, placed)
		}
	}
	for i := range t.Lanes {
		slices.SortStableFunc(t.Lanes[i].Bars, func(a, b Bar) int { return cmp.Compare(a.From, b.From) })
	}
	t.order()
	return t
}

// A place is where an object's states go: its lane, and the last bar there.
type place struct{ lane int }

func (t *Timeline) add(group int, object snapshot.ObjectHistory, offset, until float64, placed map[types.UID]place) {
	at, known := placed[object.UID]
	if !known {
		at = place{t.lane(group, object)}
		placed[object.UID] = at
	}
	lane := &t.Lanes[at.lane]
	bars, marks := statesOf(object, offset, until)
	if known && len(bars) > 0 {
		// Seen in an earlier history too, which could not know that it goes on.
		lane.Bars = slices.DeleteFunc(lane.Bars, func(b Bar) bool { return b.Object == object.Name && b.From >= bars[0].From })
	}
	lane.Bars, lane.Marks = append(lane.Bars, bars...), append(lane.Marks, marks...)
}

// lane finds the lane of an object, or makes it.
func (t *Timeline) lane(group int, object snapshot.ObjectHistory) int {
	name := laneName(object)
	at := slices.IndexFunc(t.Lanes, func(l Lane) bool {
		return l.Group == group && l.JobSet == object.JobSet && l.Kind == object.Kind && l.Name == name
	})
	if at >= 0 {
		return at
	}
	t.Lanes = append(t.Lanes, Lane{Group: group, JobSet: object.JobSet, Kind: object.Kind, Name: name})
	return len(t.Lanes) - 1
}

// laneName is what the objects of one lane have in common: pods of one rank differ in
// the last part of their names alone.
func laneName(object snapshot.ObjectHistory) string {
	if cut := strings.LastIndex(object.Name, "-"); object.Kind == "Pod" && object.Index != "" && cut > 0 {
		return object.Name[:cut]
	}
	return object.Name
}

// addEvents puts each event on the lane of what it is about.
func (t *Timeline) addEvents(events []snapshot.Event, offset float64, placed map[types.UID]place) {
	for _, event := range events {
		at, known := placed[event.UID]
		if !known {
			continue
		}
		_, name, _ := strings.Cut(event.Object, "/")
		t.Lanes[at.lane].Marks = append(t.Lanes[at.lane].Marks, Mark{At: offset + event.At, What: event.Reason,
			Text: strings.TrimPrefix(name+": "+event.Message, ": "), Warning: event.Type == "Warning"})
	}
}

var kindOrder = []string{"JobSet", "Workload", "Job", "Pod"}

// order puts the lanes of one JobSet together, from what decides to what is decided.
func (t *Timeline) order() {
	first := map[group]float64{}
	for _, lane := range t.Lanes {
		if len(lane.Bars) == 0 {
			continue
		}
		if at, ok := first[lane.group()]; !ok || lane.Bars[0].From < at {
			first[lane.group()] = lane.Bars[0].From
		}
	}
	slices.SortStableFunc(t.Lanes, func(a, b Lane) int {
		return cmp.Or(
			cmp.Compare(first[a.group()], first[b.group()]),
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.JobSet, b.JobSet),
			cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)),
			cmp.Compare(a.Name, b.Name))
	})
}

type group struct {
	number int
	jobSet string
}

func (l Lane) group() group { return group{l.Group, l.JobSet} }

// step reports whether a span is of a step, and not of a mistake.
func (s Span) step() bool { return strings.HasPrefix(s.Label, "step-") }

type quotaStep struct {
	at   float64
	gpus int64
}

// quotaUsed is how much of the queue's quota was given away, from each moment on.
func (t Timeline) quotaUsed() []quotaStep {
	var changes []quotaStep
	for _, lane := range t.Lanes {
		for _, bar := range lane.Bars {
			if lane.Kind == "Workload" && bar.Class == admitted && bar.GPUs > 0 {
				changes = append(changes, quotaStep{bar.From, bar.GPUs}, quotaStep{bar.To, -bar.GPUs})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b quotaStep) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.gpus, b.gpus)) })
	var used []quotaStep
	var total int64
	for _, change := range changes {
		total += change.gpus
		if last := len(used) - 1; last >= 0 && used[last].at == change.at {
			used[last].gpus = total
			continue
		}
		used = append(used, quotaStep{change.at, total})
	}
	return used
}
