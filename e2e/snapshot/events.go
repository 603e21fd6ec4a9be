package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// Tells reports whether an event on an object that was never seen still says something:
// of a JobSet, or of a pod of one that is there, which came and went before anybody looked.
// What happened before the present JobSet was made was to another of its name.
func (r *Recorder) Tells(event Event) bool {
	kind, name, _ := strings.Cut(event.Object, "/")
	switch kind {
	case "JobSet":
		return true
	case "Pod":
		for _, known := range r.seen {
			if known.history.Kind == "JobSet" && strings.HasPrefix(name, known.history.Name+"-") {
				return event.At >= text.Seconds(known.created.Sub(r.since))
			}
		}
	}
	return false
}

// shortEvent shortens an event to what a person asks of it.
func (r *Recorder) shortEvent(event *corev1.Event) Event {
	when := event.LastTimestamp.Time
	if when.IsZero() {
		when = event.EventTime.Time
	}
	if when.IsZero() {
		when = event.CreationTimestamp.Time
	}
	return Event{
		At:      text.Seconds(when.Sub(r.since)),
		Type:    event.Type,
		Reason:  event.Reason,
		Object:  event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name,
		UID:     event.InvolvedObject.UID,
		Message: event.Message,
		Count:   event.Count,
	}
}
