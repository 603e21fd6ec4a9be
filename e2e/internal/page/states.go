package page

import (
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The classes by which states are drawn. Each has a color, a pattern and a sign.
const (
	pending     = "pending"     // it is not yet known how it goes on
	held        = "held"        // suspended, or waiting for quota
	troubled    = "troubled"    // waiting for what may never come
	active      = "active"      // running, or watched over by its controller
	admitted    = "admitted"    // has its quota
	completed   = "completed"   // ended well
	broken      = "broken"      // ended badly
	terminating = "terminating" // being deleted
)

// classes are what each state of a kind is drawn as. A state that is in none of them
// changes nothing of how the object is drawn, and becomes a mark.
var classes = map[string]map[string]string{
	"JobSet": {"Seen": active, "Suspended": held, "Resumed": active, "Completed": completed, "Failed": broken},
	"Job": {"Seen": active, "Suspended": held, "Resumed": active, "SuccessCriteriaMet": completed, "Complete": completed,
		"FailureTarget": broken, "Failed": broken},
	"Pod": {"Seen": pending, "Pending": pending, "Running": active, "Ready": active, "NotReady": pending, "Waiting": troubled,
		"Unschedulable": troubled, "Succeeded": completed, "Failed": broken, "Unknown": troubled},
	"Workload": {"Seen": pending, "QuotaReserved": admitted, "Admitted": admitted, "QuotaNotReserved": held, "Evicted": held, "Finished": completed},
}

// shownAs is the name of a state where the recorder's own would not be understood.
var shownAs = map[string]string{"Seen": "Created", "Present": "Deletion taken back"}

// statesOf makes bars of what an object went through. Where it was not seen to go, the
// last one ends with its history.
func statesOf(object snapshot.ObjectHistory, offset, until float64) (bars []Bar, marks []Mark) {
	open := func(at float64, class, state, said string) {
		if last := len(bars) - 1; last >= 0 {
			before := &bars[last]
			// What is of the same class goes on: its text is the newest that was said.
			if before.Class == class && class != troubled && class != held {
				before.State = state
				if said != "" {
					before.Text = said
				}
				return
			}
			before.To = at
			if before.To-before.From < 0.0005 {
				bars = bars[:last]
			}
		}
		bars = append(bars, Bar{From: at, To: until, Class: class, State: state, Text: said,
			Object: object.Name, Attempt: object.Attempt, GPUs: object.GPUs, Devices: object.Devices})
	}
	deleted := false
	for _, moment := range object.Transitions {
		at := offset + moment.At
		state := moment.State
		if name, ok := shownAs[state]; ok {
			state = name
		}
		switch class, known := classes[object.Kind][moment.State]; {
		case moment.State == snapshot.StateGone:
			if len(bars) > 0 {
				bars[len(bars)-1].To = at
			}
			return bars, marks
		case moment.State == "Terminating":
			deleted = true
			open(at, terminating, state, moment.Text)
		case known && !deleted:
			open(at, class, state, moment.Text)
		default:
			marks = append(marks, Mark{At: at, What: state, Text: moment.Text})
		}
	}
	return bars, marks
}
