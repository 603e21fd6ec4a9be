package lab

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Recorder keeps every state that every object was seen in. It is fed by a
// watch and by each look at the cluster, so that what one of them misses the
// other still brings in. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	since  time.Time
	now    func() time.Time
	seen   map[types.UID]*record
	events map[types.UID]Event
	gaps   []string

	watching bool
}

type record struct {
	sighting Sighting
	order    int
	version  string // the resource version seen last
	// last holds, for each aspect of the object, the state noted last.
	last map[string]aspect
}

// NewRecorder returns a recorder whose time starts now.
func NewRecorder() *Recorder {
	return &Recorder{
		since:  time.Now(),
		now:    time.Now,
		seen:   map[types.UID]*record{},
		events: map[types.UID]Event{},
	}
}

// SawAll notes the states of all objects of a snapshot.
func (r *Recorder) SawAll(s *Snapshot) {
	for i := range s.JobSets {
		r.Saw(&s.JobSets[i])
	}
	for i := range s.Jobs {
		r.Saw(&s.Jobs[i])
	}
	for i := range s.Pods {
		r.Saw(&s.Pods[i])
	}
	for i := range s.Workloads {
		r.Saw(&s.Workloads[i])
	}
}

// Saw notes the states of an object that are new since it was seen last.
func (r *Recorder) Saw(object client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if event, ok := object.(*corev1.Event); ok {
		r.events[event.UID] = r.told(event)
		return
	}
	kind := kindOf(object)
	if kind == "" {
		return
	}
	known, ok := r.seen[object.GetUID()]
	if ok && known.isNewerThan(object) {
		return
	}
	if !ok {
		known = &record{sighting: introduce(kind, object), order: len(r.seen), last: map[string]aspect{}}
		r.seen[object.GetUID()] = known
		known.note(r.at(), stateSeen, "")
	}
	known.version = object.GetResourceVersion()
	if pod, isPod := object.(*corev1.Pod); isPod && pod.Status.PodIP != "" {
		known.sighting.Address = pod.Status.PodIP
	}
	for _, now := range aspectsOf(object) {
		before, noted := known.last[now.name]
		// An aspect at rest (not suspended, not deleted) is news only when it
		// was otherwise before.
		if noted && before == now || !noted && now.rest {
			continue
		}
		known.last[now.name] = now
		known.note(r.at(), now.state, now.text)
	}
}

// Lost notes that an object is gone.
func (r *Recorder) Lost(object client.Object) {
	r.Saw(object)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.seen[object.GetUID()]; ok && !known.sighting.Was(stateGone) {
		known.note(r.at(), stateGone, "")
	}
}

// Missed notes that the watch broke, and why.
func (r *Recorder) Missed(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = append(r.gaps, fmt.Sprintf("+%.1fs %v", r.at(), cause))
}

// History returns what was ever seen, in the order of first sight.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := slices.SortedFunc(maps.Values(r.seen), func(a, b *record) int { return cmp.Compare(a.order, b.order) })
	history := History{Since: r.since, Gaps: slices.Clone(r.gaps)}
	for _, known := range records {
		sighting := known.sighting
		sighting.Moments = slices.Clone(sighting.Moments)
		history.Sightings = append(history.Sightings, sighting)
	}
	return history
}

// Events returns every event that was seen on an object that was seen, oldest
// first. Events outlive by an hour what they are on, so others lie about too.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []Event
	for _, event := range r.events {
		if _, known := r.seen[event.UID]; known {
			events = append(events, event)
		}
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	return events
}

// needsEvents tells that the watch does not bring every event: there is none, or
// it broke. Listing them all at each look would be the dearest part of it.
func (r *Recorder) needsEvents() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.watching || len(r.gaps) > 0
}

// isNewerThan tells that an object shows an older state than the one noted: a
// list and the watch bring the same object each in its own time.
func (k *record) isNewerThan(object client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(k.version, object.GetResourceVersion())
	return err == nil && order > 0
}

func (k *record) note(at float64, state, text string) {
	k.sighting.Moments = append(k.sighting.Moments, Moment{At: at, State: state, Text: text})
}

func (r *Recorder) at() float64 { return seconds(r.now().Sub(r.since)) }

func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// told shortens an event to what a person asks of it.
func (r *Recorder) told(event *corev1.Event) Event {
	when := event.LastTimestamp.Time
	if when.IsZero() {
		when = event.EventTime.Time
	}
	if when.IsZero() {
		when = event.CreationTimestamp.Time
	}
	return Event{
		At:      seconds(when.Sub(r.since)),
		Type:    event.Type,
		Reason:  event.Reason,
		Object:  event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name,
		UID:     event.InvolvedObject.UID,
		Message: event.Message,
		Count:   event.Count,
	}
}
