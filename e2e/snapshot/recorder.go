package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// A Recorder keeps every state that every object was seen in. It is fed by a
// watch and by each look at the cluster, so that what one of them misses the
// other still brings in. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	since  time.Time
	now    func() time.Time
	seen   map[types.UID]*objectRecord
	events map[types.UID]Event
	gaps   []string
	others []string // JobSets that are not noted
	// changed holds a value once something noted has changed since it was received from.
	changed chan struct{}

	Watching bool
	// GPUResource is what a GPU is called, for the objects that the watch brings.
	GPUResource string
}

type objectRecord struct {
	history ObjectHistory
	order   int
	version string // the resource version seen last
	created time.Time
	// last holds, for each aspect of the object, the state noted last.
	last map[string]stateField
}

// NewRecorder returns a recorder whose time starts now, and which notes nothing of
// some other JobSets.
func NewRecorder(others ...string) *Recorder {
	return &Recorder{
		since:  time.Now(),
		now:    time.Now,
		seen:   map[types.UID]*objectRecord{},
		events: map[types.UID]Event{},
		others: others, changed: make(chan struct{}, 1),
	}
}

// Changed yields a value once an object that is noted has changed since the last one.
func (r *Recorder) Changed() <-chan struct{} { return r.changed }

func (r *Recorder) change() {
	select {
	case r.changed <- struct{}{}:
	default: // nobody has looked since the last change
	}
}

// ObserveAll notes the states of all objects of a snapshot.
func (r *Recorder) ObserveAll(s *Snapshot) {
	r.name(s.GPUResource)
	for i := range s.JobSets {
		r.Observe(&s.JobSets[i])
	}
	for i := range s.Jobs {
		r.Observe(&s.Jobs[i])
	}
	for i := range s.Pods {
		r.Observe(&s.Pods[i])
	}
	for i := range s.Workloads {
		r.Observe(&s.Workloads[i])
	}
	r.noteDevices(s)
}

func (r *Recorder) name(gpuResource string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.GPUResource = gpuResource
}

// noteDevices notes what only a look at the lab knows: which devices are whose.
func (r *Recorder) noteDevices(s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range s.Pods {
		if known, ok := r.seen[s.Pods[i].UID]; ok {
			known.history.Devices = text.Or(s.Devices[s.Pods[i].Name], known.history.Devices)
		}
	}
}

// gpusOf is how many GPUs a pod asks for, or a Workload does for all its pods.
func gpusOf(object client.Object, resource string) (gpus int64) {
	switch o := object.(type) {
	case *corev1.Pod:
		return GpusOf(o.Spec, resource)
	case *kueuev1.Workload:
		for _, podSet := range o.Spec.PodSets {
			gpus += int64(podSet.Count) * GpusOf(podSet.Template.Spec, resource)
		}
	}
	return gpus
}

// Observe notes the states of an object that are new since it was seen last.
func (r *Recorder) Observe(object client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if event, ok := object.(*corev1.Event); ok {
		r.events[event.UID] = r.shortEvent(event)
		return
	}
	kind := kindOf(object)
	if kind == "" || slices.Contains(r.others, jobSetOf(kind, object)) {
		return
	}
	known, ok := r.seen[object.GetUID()]
	if ok && known.isNewerThan(object) {
		return
	}
	if !ok {
		known = &objectRecord{history: newObjectHistory(kind, object), created: object.GetCreationTimestamp().Time, order: len(r.seen), last: map[string]stateField{}}
		r.seen[object.GetUID()] = known
		known.note(r.at(), stateSeen, "")
	}
	if version := object.GetResourceVersion(); known.version != version {
		known.version = version
		r.change()
	}
	if gpus := gpusOf(object, r.GPUResource); gpus > 0 {
		known.history.GPUs = gpus
	}
	if pod, isPod := object.(*corev1.Pod); isPod && pod.Status.PodIP != "" {
		known.history.Address = pod.Status.PodIP
	}
	for _, now := range stateFieldsOf(object) {
		before, noted := known.last[now.name]
		// An aspect at rest (not suspended, not deleted) is news only when it
		// was otherwise before.
		if noted && before == now || !noted && now.initial {
			continue
		}
		known.last[now.name] = now
		known.note(r.at(), now.state, now.text)
	}
}

// ObserveDeletion notes that an object is gone.
func (r *Recorder) ObserveDeletion(object client.Object) {
	r.Observe(object)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.seen[object.GetUID()]; ok && !known.history.Reached(StateGone) {
		known.note(r.at(), StateGone, "")
		r.change()
	}
}

// RecordGap notes that the watch broke, and why.
func (r *Recorder) RecordGap(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = append(r.gaps, fmt.Sprintf("+%.1fs %v", r.at(), cause))
}

// History returns what was ever seen, in the order of first sight.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := slices.SortedFunc(maps.Values(r.seen), func(a, b *objectRecord) int { return cmp.Compare(a.order, b.order) })
	history := History{Since: r.since, Gaps: slices.Clone(r.gaps)}
	for _, known := range records {
		sighting := known.history
		sighting.Transitions = slices.Clone(sighting.Transitions)
		history.Objects = append(history.Objects, sighting)
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
		if _, known := r.seen[event.UID]; known || r.Tells(event) {
			events = append(events, event)
		}
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	return events
}

// NeedsEvents says that the watch does not bring every event: there is none, or
// it broke. Listing them all at each look would be the dearest part of it.
func (r *Recorder) NeedsEvents() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.Watching || len(r.gaps) > 0
}

// isNewerThan says that an object shows an older state than the one noted: a
// list and the watch bring the same object each in its own time.
func (k *objectRecord) isNewerThan(object client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(k.version, object.GetResourceVersion())
	return err == nil && order > 0
}

func (k *objectRecord) note(at float64, state, text string) {
	k.history.Transitions = append(k.history.Transitions, Transition{At: at, State: state, Text: text})
}

func (r *Recorder) at() float64 { return text.Seconds(r.now().Sub(r.since)) }
