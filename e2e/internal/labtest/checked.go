package labtest

import (
	"slices"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// AsChecked is the snapshot as a check sees the same lab: one reading, the events
// on what is still there, no history, and nothing from inside of a pod. What the
// kubelet says of devices is what the pods said.
func AsChecked(s *snapshot.Snapshot) *snapshot.Snapshot {
	recorder := snapshot.NewRecorder()
	recorder.ObserveAll(s)
	s.Seen, s.ReadOnly = recorder.History(), true
	s.Events = slices.DeleteFunc(s.Events, func(event snapshot.Event) bool {
		_, there := s.Seen.Of(event.UID)
		return !there && !recorder.Tells(event)
	})
	return s
}
